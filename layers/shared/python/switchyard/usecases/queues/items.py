"""Puts an item into a work queue, and lists those that failed for good."""

from dataclasses import dataclass
from typing import Final

from switchyard.contracts.events import TaskFailed, TaskTimeout
from switchyard.contracts.events.envelope import StoredEvent
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.scheduling.work_queues import (
    DeadLetter,
    DeadLetterPage,
    ItemAccepted,
    PutItem,
)
from switchyard.contracts.task_requests import TaskRequest
from switchyard.contracts.wire import instant
from switchyard.domain.errors import InvalidJob, Problem
from switchyard.domain.events import event_queries
from switchyard.domain.ids import DEFAULT_QUEUE, JobRef, task_named
from switchyard.domain.tasks.task import Task, TaskRun
from switchyard.ports import EventReader, Unsettled
from switchyard.usecases.events.read_events import MAX_PAGE_BYTES
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.queues.work_queues import WorkQueues

ITEM: Final = "item"
"""The id of the one task of an item's job."""
_WHERE: Final = {"name": "definition"}
MAX_ERROR: Final = 300


@dataclass(frozen=True, kw_only=True)
class QueueItems:
    queues: WorkQueues
    submitter: Submitter
    reader: EventReader
    tasks: Unsettled

    def put(
        self,
        tenant: str,
        queue: str,
        item: PutItem,
        *,
        key: str | None = None,
        traceparent: str | None = None,
    ) -> ItemAccepted:
        """Submit a job of one task. Raise what submitting raises, and `UnknownWorkQueue`."""
        self.queues.require(tenant, queue)
        task = TaskRequest(
            task_id=ITEM,
            name=item.definition,
            input=item.input,
            queue=queue,
            priority=item.priority,
            metadata=item.metadata,
        )
        request = SubmitJob(name=f"{queue}: {item.definition}", tasks=(task,))
        try:
            accepted = self.submitter.submit(tenant, request, key=key, traceparent=traceparent)
        except InvalidJob as refused:
            raise InvalidJob([_of_item(problem) for problem in refused.problems]) from refused
        ref = JobRef(tenant, accepted.job_id).task(ITEM)
        return ItemAccepted(
            **accepted.model_dump(), queue=queue, task_id=ITEM, request_id=ref.request_id
        )

    def dead_letters(
        self, tenant: str, queue: str, *, limit: int, cursor: str | None = None
    ) -> DeadLetterPage:
        """Return tasks of the queue that failed and were not redriven, newest first.

        A page looks at `limit` failures of the tenant, of whichever queue: it may have fewer.
        """
        self.queues.require(tenant, queue)
        page = self.reader.page(
            event_queries.of_type(tenant, TaskFailed.event_type),
            event_queries.of_type(tenant, TaskTimeout.event_type),
            limit=limit,
            max_bytes=MAX_PAGE_BYTES,
            cursor=cursor,
            newest_first=True,
        )
        runs = [_run_of(tenant, event) for event in page.events]
        refs = list(dict.fromkeys(run.ref for run in runs))
        found = {task.this_run: task for task in self.tasks.read(refs)} if refs else {}
        failed = [found[run] for run in dict.fromkeys(runs) if run in found]
        letters = [_letter(task) for task in failed if _is_in(task, queue)]
        return DeadLetterPage(dead_letters=tuple(letters), cursor=page.cursor)


def _run_of(tenant: str, event: StoredEvent) -> TaskRun:
    """Return which run of which task failed; a later run of it has an event of its own."""
    return TaskRun(task_named(tenant, event.entity_id), (event.properties or {}).get("run", 1))


def _is_in(task: Task, queue: str) -> bool:
    return task.state.failure and (task.queue or DEFAULT_QUEUE) == queue


def _letter(task: Task) -> DeadLetter:
    outcome = task.outcome
    error = (outcome.error if outcome else None) or task.last_error
    return DeadLetter(
        request_id=task.ref.request_id,
        job_id=None if task.ref.bare else task.ref.job_id,
        task_id=task.ref.task_id,
        name=task.definition,
        run=task.run,
        attempts=task.attempt,
        error=error[:MAX_ERROR] if error else None,
        error_category=outcome.error_category if outcome else None,
        failed_at=instant(task.settled_at_ms),
    )


def _of_item(problem: Problem) -> Problem:
    """Name the field of the item that the task was made of."""
    path = problem.path[2:] if problem.path[:1] == ("tasks",) else problem.path
    return Problem(tuple(_WHERE.get(str(step), step) for step in path), problem.message)
