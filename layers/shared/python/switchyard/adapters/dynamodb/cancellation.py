"""Cancellation on the job's and its tasks' items."""

from collections.abc import Sequence
from typing import Any

from switchyard.adapters.dynamodb.items import TASK_PREFIX, partition, task_from, task_key
from switchyard.adapters.dynamodb.table import DynamoDbTable, key_item
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter, write_of
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import Transition, TransitionRefused, applied


class DynamoDbCancelling:
    def __init__(self, table: DynamoDbTable) -> None:
        self._table = table
        self._writer = TransitionWriter(table)

    def begin(self, job: Job, *, now_ms: int, by: str | None = None) -> Job | None:
        begin = of_jobs.begin_cancel(job, now_ms=now_ms, by=by)
        answer = self._writer.write_job(job.ref, begin)
        return answer if isinstance(answer, Job) else None

    def cancel(self, task: Task, *, now_ms: int) -> Task | None:
        cancel = of_tasks.cancel(task, now_ms=now_ms)
        if isinstance(cancel, TransitionRefused):
            return task
        answer = self._writer.write_task_surely(task.ref, cancel)
        return answer if isinstance(answer, Task) else None

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
        """Write running tasks alone: their workers' renewals would conflict with a transaction."""
        planned = [(task, of_tasks.cancel(task, now_ms=now_ms)) for task in tasks]
        together = [
            (task, cancel)
            for task, cancel in planned
            if isinstance(cancel, Transition) and task.state is not TaskState.PROCESSING
        ]
        refs = {task.ref for task, _ in together}
        alone = [task for task in tasks if task.ref not in refs]
        cancelled = self._cancel_together(together, now_ms) | self._cancel_each(alone, now_ms)
        return [cancelled[task.ref] for task in tasks]

    def note_progress(self, job: Job, cursor: str) -> None:
        self._writer.write_job(job.ref, of_jobs.note_cancel_progress(job, cursor))

    def end(self, job: Job, *, now_ms: int, cursor: str) -> None:
        self._writer.write_job(job.ref, of_jobs.end_cancel(job, now_ms=now_ms, cursor=cursor))

    def note_reported(self, job: Job, cursor: str | None) -> None:
        self._writer.write_job(job.ref, of_jobs.note_events_emitted(job, cursor))

    def _cancel_together(
        self, planned: Sequence[tuple[Task, Transition]], now_ms: int
    ) -> dict[TaskRef, Task | None]:
        """Cancel together; if that fails, one by one: a single write shows what became of it."""
        try:
            done = self._table.update_many([write_of(task.ref, one) for task, one in planned])
        except Unavailable:
            return self._cancel_each([task for task, _ in planned], now_ms)
        return {
            task.ref: applied(task, cancel) if ours else None
            for (task, cancel), ours in zip(planned, done, strict=True)
        }

    def _cancel_each(self, tasks: Sequence[Task], now_ms: int) -> dict[TaskRef, Task | None]:
        answers = self._table.parallel.each(lambda task: self.cancel(task, now_ms=now_ms), tasks)
        return {task.ref: answer for task, answer in zip(tasks, answers, strict=True)}
