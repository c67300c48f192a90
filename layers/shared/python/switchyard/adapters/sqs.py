"""The task queue on SQS."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import call, code_of
from switchyard.contracts.dispatch_messages import DispatchMessage
from switchyard.contracts.messages import Attributes, MessageAttribute, TaskMessage
from switchyard.domain.errors import Unavailable, UnknownQueue
from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import TaskRun
from switchyard.domain.text import in_slices
from switchyard.ports import Received


class SqsDispatchQueue:
    """Sends jobs to a queue of their own: the step of one does not wait behind the tasks of all."""

    def __init__(self, client: Any, queue_url: str, job_queue_url: str) -> None:
        self._client = client
        self._url = queue_url
        self._job_url = job_queue_url

    def send(self, refs: Sequence[TaskRun | JobRef]) -> None:
        jobs = [ref for ref in refs if isinstance(ref, JobRef)]
        runs = [ref for ref in refs if isinstance(ref, TaskRun)]
        self._send_all(self._job_url, jobs)
        self._send_all(self._url, runs)

    def _send_all(self, url: str, refs: Sequence[TaskRun | JobRef]) -> None:
        for batch in in_slices(refs, ENTRIES_PER_BATCH):
            self._send_batch(url, batch)

    def _send_batch(self, url: str, refs: Sequence[TaskRun | JobRef]) -> None:
        answer = call(
            self._client.send_message_batch,
            QueueUrl=url,
            Entries=[
                {
                    "Id": str(number),
                    "MessageBody": DispatchMessage.to(ref).model_dump_json(
                        by_alias=True, exclude_none=True
                    ),
                }
                for number, ref in enumerate(refs)
            ],
        )
        failed = answer.get("Failed", [])
        if failed:
            raise Unavailable(f"SQS refused {len(failed)} of {len(refs)} messages")


_NO_SUCH_QUEUE: Final = frozenset(
    {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}
)  # as the query protocol calls it, and as JSON does


class SqsQueueSender:
    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, queue: str, body: str, attributes: Attributes) -> None:
        call(
            self._client.send_message,
            QueueUrl=call(self._url, queue),
            MessageBody=body,
            MessageAttributes={name: as_sqs(found) for name, found in attributes.items()},
        )

    def _url(self, queue: str) -> str:
        try:
            url: str = self._client.get_queue_url(QueueName=queue)["QueueUrl"]
        except ClientError as error:
            if code_of(error) in _NO_SUCH_QUEUE:
                raise UnknownQueue(queue) from error
            raise
        return url


def as_sqs(attribute: MessageAttribute) -> dict[str, Any]:
    if attribute.binary_value is not None:
        value: dict[str, Any] = {"BinaryValue": base64.b64decode(attribute.binary_value)}
    else:
        value = {"StringValue": attribute.string_value}
    return {"DataType": attribute.data_type, **value}


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
