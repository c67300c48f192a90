"""Cancellation on the job's and its tasks' items."""

from switchyard.adapters.dynamodb.items import due_attributes, job_from, job_key
from switchyard.adapters.dynamodb.read_back import NotDone, Proof, ReadBack
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal, Update
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.domain.tasks import due, proofs
from switchyard.domain.tasks.cancelling import Flag, Leave, Settle, decide_cancel
from switchyard.domain.tasks.task import Task


class DynamoDbCancelling:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._tasks = ReadBack(table)
        self._leases = DynamoDbTaskLeases(table)

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        known = {"cancelled_by": by} if by else {}
        answer = self._table.update(
            job_key(job.ref),
            Update(
                set={"state": JobState.CANCELLING, "cancel_requested": True}
                | known
                | due_attributes(job.ref.job_id, now_ms + due.JOB_BEING_CHANGED),
                condition="#state = :open AND #run = :run AND attribute_not_exists(#redrive_key)",
                values={"open": JobState.OPEN, "run": job.run},
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        found = job_from(item, job.ref.tenant) if item else None
        return found if found and found.state is JobState.CANCELLING else None

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        match decide_cancel(task):
            case Settle(outcome):
                return self._leases.give_up(task, outcome, now_ms=now_ms)
            case Flag():
                return self._flag(task)
            case Leave():
                return task

    def end(self, job: Job, *, now_ms: int) -> None:
        self._table.update(
            job_key(job.ref),
            Update(
                set={"state": JobState.OPEN}
                | due_attributes(job.ref.job_id, now_ms + due.JOB_AUDIT),
                condition="#state = :cancelling AND #run = :run",
                values={"cancelling": JobState.CANCELLING, "run": job.run},
            ),
        )

    def _flag(self, task: Task) -> Task | None:
        answer = self._tasks.update(
            task.ref,
            Update(
                set={"cancel_requested": True},
                condition="#state = :state AND #fence = :fence",
                values={"state": task.state, "fence": task.fence},
            ),
            Proof(
                done=lambda found: proofs.flagged(found, task),
                possible=lambda found: proofs.unchanged(found, task),
            ),
        )
        return None if isinstance(answer, NotDone) else answer
