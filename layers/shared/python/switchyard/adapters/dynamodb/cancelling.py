"""Cancellation on the job's and its tasks' items."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from switchyard.adapters.dynamodb.items import (
    TASK_PREFIX,
    due_attributes,
    job_from,
    job_key,
    partition,
    task_from,
    task_key,
)
from switchyard.adapters.dynamodb.read_back import NotDone, Proof, ReadBack
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal, Update, key_item
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases, given_up
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due, proofs
from switchyard.domain.tasks.cancelling import Flag, Leave, Settle, decide_cancel
from switchyard.domain.tasks.task import Task

_CANCELLING: Final = "#state = :cancelling AND #run = :run"


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
                remove=("cancel_cursor",),
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

    def page(self, ref: JobRef, *, after: str | None, at_most: int) -> Sequence[Task]:
        options: dict[str, Any] = {"Limit": at_most}
        if after is not None:
            options["ExclusiveStartKey"] = serialized(key_item(task_key(ref.task(after))))
        page = next(
            self._table.pages(
                "#PK = :job AND begins_with(#SK, :task)",
                {"job": partition(ref), "task": TASK_PREFIX},
                **options,
            )
        )
        return [task_from(deserialized(item), ref) for item in page["Items"]]

    def cancel_many(self, tasks: Sequence[Task], *, now_ms: int) -> Sequence[Task | None]:
        """What runs is written alone: its worker renews it, and would meet the transaction."""
        together = [task for task in tasks if _is_written_together(task)]
        alone = [task for task in tasks if not _is_written_together(task)]
        answers = [*self._cancel_together(together, now_ms), *self._cancel_each(alone, now_ms)]
        refs = [task.ref for task in (*together, *alone)]
        cancelled = dict(zip(refs, answers, strict=True))
        return [cancelled[task.ref] for task in tasks]

    def note_progress(self, job: Job, cursor: str) -> None:
        self._table.update(
            job_key(job.ref),
            Update(
                set={"cancel_cursor": cursor},
                condition=_CANCELLING,
                values={"cancelling": JobState.CANCELLING, "run": job.run},
            ),
        )

    def end(self, job: Job, *, now_ms: int, cursor: str) -> None:
        self._table.update(
            job_key(job.ref),
            Update(
                set={"state": JobState.OPEN, "cancel_cursor": cursor}
                | due_attributes(job.ref.job_id, now_ms + due.JOB_AUDIT),
                condition=_CANCELLING,
                values={"cancelling": JobState.CANCELLING, "run": job.run},
            ),
        )

    def note_reported(self, job: Job, cursor: str | None) -> None:
        self._table.update(
            job_key(job.ref),
            Update(
                set={"cancel_cursor": cursor} if cursor else {},
                remove=() if cursor else ("cancel_cursor",),
                condition="#state <> :cancelling AND #run = :run",
                values={"cancelling": JobState.CANCELLING, "run": job.run},
            ),
        )

    def _cancel_together(self, tasks: Sequence[Task], now_ms: int) -> Sequence[Task | None]:
        """One by one where that fails: a single write shows what became of it."""
        updates = [(task_key(task.ref), _written(task, now_ms)[0]) for task in tasks]
        try:
            done = self._table.update_many(updates)
        except Unavailable:
            return self._cancel_each(tasks, now_ms)
        return [
            _written(task, now_ms)[1] if ours else None
            for task, ours in zip(tasks, done, strict=True)
        ]

    def _cancel_each(self, tasks: Sequence[Task], now_ms: int) -> Sequence[Task | None]:
        return self._table.workforce.each(lambda task: self.cancel(task, now_ms=now_ms), tasks)

    def _flag(self, task: Task) -> Task | None:
        answer = self._tasks.update(
            task.ref,
            _flagged(task),
            Proof(
                done=lambda found: proofs.flagged(found, task),
                possible=lambda found: proofs.unchanged(found, task),
            ),
        )
        return None if isinstance(answer, NotDone) else answer


def _is_written_together(task: Task) -> bool:
    decision = decide_cancel(task)
    waits = isinstance(decision, Flag) and task.state is TaskState.WAITING
    return isinstance(decision, Settle) or waits


def _written(task: Task, now_ms: int) -> tuple[Update, Task]:
    """The write that a transaction makes, and the task as that leaves it."""
    decision = decide_cancel(task)
    if not isinstance(decision, Settle):
        return _flagged(task), replace(task, cancel_requested=True)
    settled = replace(
        task,
        state=decision.outcome.state,
        outcome=decision.outcome,
        settled_at_ms=now_ms,
        due_at_ms=now_ms + due.AFTER_SETTLING,
        fence=task.fence + 1,
        resends=0,
    )
    return given_up(task, decision.outcome, now_ms=now_ms), settled


def _flagged(task: Task) -> Update:
    return Update(
        set={"cancel_requested": True},
        condition="#state = :state AND #fence = :fence",
        values={"state": task.state, "fence": task.fence},
    )
