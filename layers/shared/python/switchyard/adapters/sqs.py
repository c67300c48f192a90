"""The task queue on SQS."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from switchyard.adapters.aws import call
from switchyard.adapters.sqs_mail import as_sqs
from switchyard.contracts.messages import MessageAttribute, TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.ports import Received

ENTRIES_PER_BATCH: Final = 10  # SQS's limit, for sending and for receiving
MAX_DELAY_SECONDS: Final = 900


class SqsTaskQueue:
    """Both sides of the queue: what sends wake-ups and what receives them."""

    def __init__(self, client: Any, queue_url: str, *, polling: Any = None) -> None:
        """`polling` is a client that waits for long polls; all other calls have to end sooner."""
        self._client = client
        self._polling = polling or client
        self._url = queue_url

    def send(self, messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        for start in range(0, len(messages), ENTRIES_PER_BATCH):
            self._send_batch(messages[start : start + ENTRIES_PER_BATCH], delay_seconds)

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]:
        answer = call(
            self._polling.receive_message,
            QueueUrl=self._url,
            MaxNumberOfMessages=min(at_most, ENTRIES_PER_BATCH),
            WaitTimeSeconds=wait_seconds,
            VisibilityTimeout=visibility_seconds,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["SentTimestamp"],
        )
        return [_received(message) for message in answer.get("Messages", [])]

    def extend(self, message: Received, *, seconds: int) -> None:
        call(
            self._client.change_message_visibility,
            QueueUrl=self._url,
            ReceiptHandle=message.receipt,
            VisibilityTimeout=seconds,
        )

    def delete(self, *messages: Received) -> None:
        for start in range(0, len(messages), ENTRIES_PER_BATCH):
            self._delete_batch(messages[start : start + ENTRIES_PER_BATCH])

    def _send_batch(self, messages: Sequence[TaskMessage], delay_seconds: int) -> None:
        answer = call(
            self._client.send_message_batch,
            QueueUrl=self._url,
            Entries=[_entry(n, message, delay_seconds) for n, message in enumerate(messages)],
        )
        failed = answer.get("Failed", [])
        if failed:
            raise Unavailable(f"SQS refused {len(failed)} of {len(messages)} messages")

    def _delete_batch(self, messages: Sequence[Received]) -> None:
        answer = call(
            self._client.delete_message_batch,
            QueueUrl=self._url,
            Entries=[
                {"Id": str(n), "ReceiptHandle": message.receipt}
                for n, message in enumerate(messages)
            ],
        )
        failed = answer.get("Failed", [])
        if failed:
            raise Unavailable(f"SQS did not delete {len(failed)} of {len(messages)} messages")


def _received(message: Mapping[str, Any]) -> Received:
    return Received(
        body=message["Body"],
        message_id=message["MessageId"],
        sent_at_ms=int(message["Attributes"]["SentTimestamp"]),
        attributes={
            name: _attribute(found) for name, found in message.get("MessageAttributes", {}).items()
        },
        receipt=message["ReceiptHandle"],
    )


def _attribute(found: Mapping[str, Any]) -> MessageAttribute:
    binary = found.get("BinaryValue")
    return MessageAttribute(
        data_type=found["DataType"],
        string_value=found.get("StringValue"),
        binary_value=None if binary is None else base64.b64encode(binary).decode(),
    )


def _entry(number: int, message: TaskMessage, delay_seconds: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "Id": str(number),
        "MessageBody": message.model_dump_json(by_alias=True),
        "MessageAttributes": {name: as_sqs(found) for name, found in message.attributes.items()},
        "MessageGroupId": message.tenant_id,  # fair queues: no tenant waits behind another's flood
    }
    if delay_seconds:
        entry["DelaySeconds"] = min(delay_seconds, MAX_DELAY_SECONDS)
    return entry
