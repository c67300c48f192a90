"""Messages of the dispatch queue: events of the bus, and messages that are sent there directly."""

from dataclasses import dataclass, field
from typing import Final, Self

from pydantic import Field, PositiveInt, TypeAdapter, model_validator

from switchyard.contracts.events import (
    ArrivedEvent,
    JobCreated,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskSkipped,
    TaskTimeout,
)
from switchyard.contracts.events.envelope import BusMessage
from switchyard.contracts.wire import SchemaOne, Written
from switchyard.domain.errors import NewerVersion
from switchyard.domain.events.event_keys import EntityType
from switchyard.domain.ids import (
    ANY_TASK_ID,
    BARE_PREFIX,
    BARE_TASK,
    JOB_ID,
    START,
    TENANT_ID,
    JobRef,
    problem_with_bare_id,
    task_named,
)
from switchyard.domain.jobs.plan import FIRST_RUN
from switchyard.domain.tasks.task import TaskRun

SCHEMA_VERSION: Final = 1
WAKING_EVENTS: Final = (
    JobCreated.event_type,
    TaskCompleted.event_type,
    TaskFailed.event_type,
    TaskTimeout.event_type,
    TaskSkipped.event_type,
    TaskCancelled.event_type,
)
"""The types of events that wake the dispatcher."""


class DispatchMessage(Written):
    """Names a run of a task to follow or to start, or without one a job to go on with."""

    schema_version: SchemaOne = Field(default=SCHEMA_VERSION, alias="schema")
    tenant_id: str
    job_id: str
    task_id: str | None = None
    run: PositiveInt | None = None

    @classmethod
    def to(cls, ref: TaskRun | JobRef) -> Self:
        if isinstance(ref, JobRef):
            return cls(tenant_id=ref.tenant, job_id=ref.job_id)
        task = ref.ref
        return cls(tenant_id=task.tenant, job_id=task.job_id, task_id=task.task_id, run=ref.run)

    @model_validator(mode="after")
    def _ids_are_whole(self) -> Self:
        if not TENANT_ID.fullmatch(self.tenant_id):
            raise ValueError(f"{self.tenant_id!r} is not a tenant")
        if not (JOB_ID.fullmatch(self.job_id) or self._names_a_bare_task()):
            raise ValueError(f"{self.job_id!r} is not a job")
        if self.task_id is not None and not ANY_TASK_ID.fullmatch(self.task_id):
            raise ValueError(f"{self.task_id!r} is not a task")
        if (self.task_id is None) is not (self.run is None):
            raise ValueError("a task has a run, and a job has none")
        return self

    def _names_a_bare_task(self) -> bool:
        prefix, request_id = self.job_id[:1], self.job_id[1:]
        bare = prefix == BARE_PREFIX and problem_with_bare_id(request_id) is None
        return bare and self.task_id == BARE_TASK

    @property
    def ref(self) -> TaskRun | JobRef:
        job = JobRef(self.tenant_id, self.job_id)
        if self.task_id is None or self.run is None:
            return job
        return TaskRun(job.task(self.task_id), self.run)


_ARRIVED: Final = TypeAdapter[BusMessage | DispatchMessage](BusMessage | DispatchMessage)


@dataclass(frozen=True, slots=True)
class WakeUp:
    ref: TaskRun | JobRef
    by_event: bool
    """An event may arrive long after its transition; a direct message always asks for work."""
    trace_id: str | None = field(default=None, compare=False)
    """The trace, if it is known: a message that is sent directly does not have it."""

    @property
    def job(self) -> JobRef:
        return self.ref if isinstance(self.ref, JobRef) else self.ref.ref.job


def wake_up(body: str) -> WakeUp:
    """Raise `ValueError` for what is neither."""
    match _ARRIVED.validate_json(body):
        case BusMessage(detail=event):
            trace_id = event.trace.trace_id if event.trace else None
            return WakeUp(settled_task(event), by_event=True, trace_id=trace_id)
        case DispatchMessage(ref=ref):
            return WakeUp(ref, by_event=False)


def settled_task(event: ArrivedEvent) -> TaskRun:
    """Return the run of the task that the event says is settled.

    Job Created stands for the hidden task `__start__` of its job, in its first run: that settled
    when the job was opened, and its roots are what follows.
    """
    if not TENANT_ID.fullmatch(event.tenant_id):
        raise ValueError(f"{event.tenant_id!r} is not a tenant")
    if event.entity_type == EntityType.TASK:
        return TaskRun(task_named(event.tenant_id, event.entity_id), _run(event))
    if event.entity_type != EntityType.JOB:
        raise NewerVersion(f"{event.entity_type!r} is no kind of entity that this version knows")
    if not JOB_ID.fullmatch(event.entity_id):
        raise ValueError(f"{event.entity_id!r} is not a job")
    return TaskRun(JobRef(event.tenant_id, event.entity_id).task(START), FIRST_RUN)


def _run(event: ArrivedEvent) -> int:
    run = event.properties.get("run")
    if not isinstance(run, int):
        raise ValueError(f"{run!r} is not the run of {event.entity_id}")
    return run
