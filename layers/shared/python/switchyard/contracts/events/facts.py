"""The facts that a fold takes from a stored event; none, if its type is unknown."""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic.alias_generators import to_camel

from switchyard.contracts.events.catalogue import CATALOGUE, what_it_says
from switchyard.contracts.events.envelope import OVERFLOW, StoredEvent
from switchyard.contracts.events.jobs import (
    CreatedTask,
    JobCancelled,
    JobCompleted,
    JobCreated,
    JobFailed,
    JobFailureDetected,
    JobSettled,
    JobTasksAdded,
)
from switchyard.contracts.events.properties import JobProperties, Properties, TaskProperties
from switchyard.contracts.events.tasks import (
    TaskCancelled,
    TaskCompleted,
    TaskExpanded,
    TaskFailed,
    TaskHeartbeat,
    TaskHeld,
    TaskPending,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskRedriven,
    TaskReleased,
    TaskSkipped,
    TaskTimeout,
)
from switchyard.domain.events.fold import JobEventFacts, LastEvent, Outcome, TaskEventFacts
from switchyard.domain.states import JobState, TaskState

TASK_STATES: Final[Mapping[type[Properties], TaskState]] = {
    TaskRedriven: TaskState.WAITING,  # Task Pending follows when it may run
    TaskPending: TaskState.READY,
    TaskHeld: TaskState.HELD,
    TaskExpanded: TaskState.WAITING,
    TaskProcessingStarted: TaskState.PROCESSING,
    TaskHeartbeat: TaskState.PROCESSING,
    TaskProcessingFailed: TaskState.QUEUED,
    TaskReleased: TaskState.QUEUED,
    TaskCompleted: TaskState.COMPLETED,
    TaskFailed: TaskState.FAILED,
    TaskTimeout: TaskState.TIMED_OUT,
    TaskSkipped: TaskState.SKIPPED,
    TaskCancelled: TaskState.CANCELLED,
}
JOB_STATES: Final[Mapping[type[Properties], JobState]] = {
    JobCreated: JobState.OPEN,
    JobTasksAdded: JobState.OPEN,
    JobFailureDetected: JobState.OPEN,
    JobCompleted: JobState.COMPLETED,
    JobFailed: JobState.FAILED,
    JobCancelled: JobState.CANCELLED,
}
_NOTHING: Final[Mapping[str, object]] = {"tasks": (), "new_tasks": (), "task_statuses": {}}


def task_event_facts(events: Iterable[StoredEvent]) -> list[TaskEventFacts]:
    return [
        _of_task(event, said) for event, said in _said(events) if isinstance(said, TaskProperties)
    ]


def job_event_facts(events: Iterable[StoredEvent]) -> list[JobEventFacts]:
    return [
        _of_job(_last(event), said)
        for event, said in _said(events)
        if isinstance(said, JobProperties)
    ]


def _said(events: Iterable[StoredEvent]) -> list[tuple[StoredEvent, object]]:
    return [(event, what_it_says(_without_address(event))) for event in events]


def _without_address(event: StoredEvent) -> StoredEvent:
    """Read the facts of an event whose large fields are in the bucket: those fields are unknown."""
    if OVERFLOW not in (event.properties or {}):
        return event
    model = CATALOGUE.get(event.event_type)
    fields = model.model_fields if model else {}
    emitted = {name: value for name, value in (event.properties or {}).items() if name != OVERFLOW}
    empty = {to_camel(name): value for name, value in _NOTHING.items() if name in fields}
    return event.model_copy(update={"properties": empty | emitted})


def _last(event: StoredEvent) -> LastEvent:
    return LastEvent(event.timestamp, event.event_id, event.event_type)


def _of_task(event: StoredEvent, said: TaskProperties) -> TaskEventFacts:
    return TaskEventFacts(
        event=_last(event),
        task_id=said.request_id.removeprefix(f"{said.job_id}__"),
        run=said.run,
        fence=said.fence,
        state=TASK_STATES[type(said)],
        attempt=_attempt(said),
        given_back=isinstance(said, TaskReleased),
        without_worker=isinstance(said, TaskHeld | TaskExpanded),
        job_run=said.job_run if isinstance(said, TaskRedriven) else None,
        outcome=_outcome(event, said),
    )


def _outcome(event: StoredEvent, said: TaskProperties) -> Outcome | None:
    match said:
        case TaskCompleted():
            cost = {"costUsd": said.usage.cost_usd}
            return cost if OVERFLOW in (event.properties or {}) else cost | {"output": said.output}
        case TaskFailed():
            return {"error": said.error}
    return None


def _attempt(said: TaskProperties) -> int | None:
    match said:
        case TaskProcessingFailed():
            return said.attempt_number
        case TaskFailed(source="dispatcher"):
            return 0
        case TaskFailed():
            return said.retry_count + 1
    return None


def _of_job(event: LastEvent, said: JobProperties) -> JobEventFacts:
    total, named = _tasks(said)
    return JobEventFacts(
        event=event,
        run=said.run,
        state=JOB_STATES[type(said)],
        creation=isinstance(said, JobCreated),
        total_tasks=total,
        task_ids=tuple(task.task_id for task in named),
        failed_task_id=said.failed_task_id if isinstance(said, JobFailureDetected) else None,
    )


def _tasks(said: JobProperties) -> tuple[int | None, tuple[CreatedTask, ...]]:
    match said:
        case JobCreated():
            return said.total_tasks, said.tasks
        case JobTasksAdded():
            return said.total_tasks_now, said.new_tasks
        case JobSettled():
            return said.total_tasks, ()
    return None, ()
