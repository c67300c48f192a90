"""What was in flight when MiniStack ended is received again at once after its start."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ministack.services import sqs

from switchyard_local.emulator.released_messages import release_messages

NAMES = itertools.count()


@contextmanager
def a_queue(name: str) -> Iterator[str]:
    url = sqs._act_create_queue({"QueueName": f"test{next(NAMES)}-{name}"}, "")["QueueUrl"]
    yield url
    sqs._act_delete_queue({"QueueUrl": url}, "")


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(sqs, "load_persisted_state", sqs.load_persisted_state)
    release_messages()
    with a_queue("dispatch-queue") as url:
        yield url


def send(queue: str, body: str, *, delay: int = 0) -> None:
    sqs._act_send_message({"QueueUrl": queue, "MessageBody": body, "DelaySeconds": delay}, "")


def receive(queue: str) -> list[str]:
    request = {"QueueUrl": queue, "MaxNumberOfMessages": 10, "VisibilityTimeout": 900}
    found: dict[str, Any] = asyncio.run(
        sqs._act_receive_message({**request, "WaitTimeSeconds": 0}, "")
    )
    return [message["Body"] for message in found.get("Messages", [])]


def restart() -> None:
    sqs.load_persisted_state(sqs.get_state())


def test_a_message_that_was_held_comes_again(queue: str) -> None:
    send(queue, "held")
    assert receive(queue) == ["held"]
    assert receive(queue) == []
    restart()
    assert receive(queue) == ["held"]


def test_a_message_that_is_delayed_stays_so(queue: str) -> None:
    send(queue, "later", delay=600)
    restart()
    assert receive(queue) == []


@pytest.mark.usefixtures("queue")
def test_a_message_of_workers_is_hidden_for_as_long_as_its_task_is_leased() -> None:
    with a_queue("task-queue") as of_workers:
        send(of_workers, "leased")
        assert receive(of_workers) == ["leased"]
        restart()
        assert receive(of_workers) == []
