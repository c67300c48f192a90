"""The dispatch queue on SQS."""

from collections.abc import Sequence
from typing import Any

from switchyard.adapters.aws import call
from switchyard.adapters.sqs import ENTRIES_PER_BATCH
from switchyard.contracts.dispatching import DispatchMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import TaskRun


class SqsDispatchQueue:
    def __init__(self, client: Any, queue_url: str) -> None:
        self._client = client
        self._url = queue_url

    def send(self, refs: Sequence[TaskRun | JobRef]) -> None:
        for start in range(0, len(refs), ENTRIES_PER_BATCH):
            self._send_batch(refs[start : start + ENTRIES_PER_BATCH])

    def _send_batch(self, refs: Sequence[TaskRun | JobRef]) -> None:
        answer = call(
            self._client.send_message_batch,
            QueueUrl=self._url,
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
