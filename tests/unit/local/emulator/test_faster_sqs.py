"""MiniStack's SQS with as few looks at its messages as it needs."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest
from ministack.services import sqs

from switchyard_local.emulator import faster_sqs

NAMES = itertools.count()


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a queue of its own, answered by the faster functions."""
    for name in ("_collect_msgs", "_expire_retained"):
        monkeypatch.setattr(sqs, name, getattr(sqs, name))
    monkeypatch.setattr(sqs, "_HANDLERS", dict(sqs._HANDLERS))
    faster_sqs.speed_up_sqs()
    url = sqs._act_create_queue({"QueueName": f"fast-{next(NAMES)}"}, "")["QueueUrl"]
    yield url
    sqs._act_delete_queue({"QueueUrl": url}, "")


def send(queue: str, *bodies: str) -> None:
    for body in bodies:
        sqs._act_send_message({"QueueUrl": queue, "MessageBody": body}, "")


def receive(queue: str, at_most: int, **options: Any) -> list[dict[str, Any]]:
    request = {"QueueUrl": queue, "MaxNumberOfMessages": at_most, "WaitTimeSeconds": 0, **options}
    found: dict[str, Any] = asyncio.run(sqs._act_receive_message(request, ""))
    messages: list[dict[str, Any]] = found.get("Messages", [])
    return messages


def delete(queue: str, *receipts: str) -> dict[str, Any]:
    entries = [{"Id": str(n), "ReceiptHandle": one} for n, one in enumerate(receipts)]
    answer: dict[str, Any] = sqs._HANDLERS["DeleteMessageBatch"](
        {"QueueUrl": queue, "Entries": entries}, ""
    )
    return answer


def bodies(messages: list[dict[str, Any]]) -> list[str]:
    return [message["Body"] for message in messages]


def test_each_message_is_received_once_and_in_the_order_in_which_it_was_sent(queue: str) -> None:
    send(queue, *"abcde")
    assert bodies(receive(queue, 2)) == ["a", "b"]
    assert bodies(receive(queue, 10)) == ["c", "d", "e"]
    assert receive(queue, 10) == []


def test_no_more_messages_are_looked_at_than_are_taken(
    queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(queue, *(str(number) for number in range(50)))
    looked_at: set[int] = set()
    monkeypatch.setattr(sqs, "_ensure_msg_fields", lambda one: looked_at.add(id(one)))
    assert len(receive(queue, 3)) == 3
    assert len(looked_at) == 3


def test_one_that_becomes_visible_again_is_received_again_and_counted(queue: str) -> None:
    send(queue, "a")
    receive(queue, 1, VisibilityTimeout=0)
    (again,) = receive(queue, 1, AttributeNames=["All"])
    assert again["Attributes"]["ApproximateReceiveCount"] == "2"


def test_a_batch_is_deleted_and_what_is_not_there_is_named(queue: str) -> None:
    send(queue, *"abc")
    first, second = receive(queue, 2)
    answer = delete(queue, first["ReceiptHandle"], "unknown", second["ReceiptHandle"])
    assert answer["Successful"] == [{"Id": "0"}, {"Id": "2"}]
    assert [(one["Id"], one["Code"]) for one in answer["Failed"]] == [
        ("1", "ReceiptHandleIsInvalid")
    ]
    assert bodies(receive(queue, 10)) == ["c"]


def test_a_batch_without_entries_is_refused(queue: str) -> None:
    with pytest.raises(sqs._Err, match=r"."):
        delete(queue)


def test_old_messages_expire_all_the_same(queue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    send(queue, "old")
    receive(queue, 1, VisibilityTimeout=0)
    later = time.time() + 400_000
    moment = time.monotonic() + faster_sqs.SECONDS_BETWEEN_EXPIRIES
    monkeypatch.setattr(time, "time", lambda: later)
    monkeypatch.setattr(time, "monotonic", lambda: moment)
    assert receive(queue, 1) == []
