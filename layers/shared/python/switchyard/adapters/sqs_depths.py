"""Counts the messages in the queues of SQS."""

from typing import Any, Final

from switchyard.adapters.aws import call
from switchyard.ports import QueueDepth

_WAITING: Final = "ApproximateNumberOfMessages"
_HIDDEN: Final = "ApproximateNumberOfMessagesNotVisible"
_DELAYED: Final = "ApproximateNumberOfMessagesDelayed"


class SqsQueueDepths:
    def __init__(self, client: Any) -> None:
        self._client = client

    def of(self, queue: str) -> QueueDepth:
        answer = call(
            self._client.get_queue_attributes,
            QueueUrl=queue,
            AttributeNames=[_WAITING, _HIDDEN, _DELAYED],
        )
        found = answer["Attributes"]
        return QueueDepth(
            waiting=int(found[_WAITING]),
            hidden=int(found[_HIDDEN]),
            delayed=int(found[_DELAYED]),
        )
