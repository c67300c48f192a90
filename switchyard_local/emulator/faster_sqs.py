"""Lets MiniStack's SQS answer with the same, and sooner, when thousands of messages wait.

By itself it looks at every message of a queue several times for each receive, and once for each
message of a batch that is deleted: to drain a queue takes the square of its length.
"""

import time  # noqa: TID251 - compared with the times that MiniStack writes
from collections.abc import Callable
from typing import Any, Final

from ministack.services import sqs

Queue = dict[str, Any]
Collect = Callable[[Queue, int, int], list[dict[str, Any]]]

SECONDS_BETWEEN_EXPIRIES: Final = 1.0
"""Queues keep messages for a minute at least."""


def speed_up_sqs() -> None:
    """Let it look at as few messages as it can."""
    sqs._collect_msgs = _looking_at_the_first(sqs._collect_msgs)
    sqs._expire_retained = _now_and_then(sqs._expire_retained)
    sqs._HANDLERS["DeleteMessageBatch"] = delete_message_batch


def _looking_at_the_first(collect: Collect) -> Collect:
    """Give it no more messages of a queue than it is going to take."""

    def collected(queue: Queue, at_most: int, visibility: int) -> list[dict[str, Any]]:
        if queue["is_fifo"]:
            return collect(queue, at_most, visibility)
        found, now = [], time.time()
        for message in queue["messages"]:
            sqs._ensure_msg_fields(message)
            if message["visible_at"] <= now:
                found.append(message)
            if len(found) == at_most:
                break
        return collect(queue | {"messages": found}, at_most, visibility)

    return collected


def _now_and_then(expire: Callable[[Queue], None]) -> Callable[[Queue], None]:
    last: dict[str, float] = {}

    def expired(queue: Queue) -> None:
        name, now = queue["attributes"].get("QueueArn", ""), time.monotonic()
        if now - last.get(name, -SECONDS_BETWEEN_EXPIRIES) >= SECONDS_BETWEEN_EXPIRIES:
            last[name] = now
            expire(queue)

    return expired


def delete_message_batch(data: dict[str, Any], url: str) -> dict[str, Any]:
    """Delete what is there of a batch in one pass over the queue."""
    queue = sqs._get_q(data.get("QueueUrl", url), "sqs:DeleteMessage")
    entries = data.get("Entries", [])
    sqs._validate_batch_entries(entries, "DeleteMessageBatchRequestEntry")
    wanted = {entry.get("ReceiptHandle", "") for entry in entries}
    left, found = [], set()
    for message in queue["messages"]:
        receipt = message["receipt_handle"]
        if receipt is not None and receipt in wanted:
            found.add(receipt)
        else:
            left.append(message)
    queue["messages"] = left
    answers = [(entry.get("Id", ""), entry.get("ReceiptHandle", "")) for entry in entries]
    return {
        "Successful": [{"Id": name} for name, receipt in answers if receipt in found],
        "Failed": [_not_found(name) for name, receipt in answers if receipt not in found],
    }


def _not_found(name: str) -> dict[str, Any]:
    return {
        "Id": name,
        "Code": "ReceiptHandleIsInvalid",
        "Message": "The input receipt handle is invalid.",
        "SenderFault": True,
    }
