"""The dispatch queue and the job queue on SQS."""

from collections.abc import Sequence
from typing import Any

from switchyard.adapters.aws import call
from switchyard.adapters.sqs import ENTRIES_PER_BATCH
from switchyard.contracts.dispatching import DispatchMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.slices import in_slices
from switchyard.domain.tasks.task import TaskRun


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
