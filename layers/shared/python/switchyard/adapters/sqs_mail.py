"""Messages to any queue of SQS, by its name."""

import base64
from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import call, code_of
from switchyard.contracts.messages import Attributes, MessageAttribute
from switchyard.domain.errors import UnknownQueue

_NO_SUCH_QUEUE: Final = frozenset(
    {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}
)  # as the query protocol calls it, and as JSON does


class SqsMail:
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
