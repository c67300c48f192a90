"""The health of running tasks and of task definitions."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from switchyard.contracts.events.checks import Health as HealthName
from switchyard.contracts.events.checks import HealthSummary
from switchyard.contracts.wire import Closed, Written
from switchyard.domain.health.health import CheckedTask, HealthReport, OwnLimits
from switchyard.domain.health.unserved import UnservedCode, UnservedGroup
from switchyard.domain.ids import TaskRef, task_named

NOT_FOUND = {"health": "not_found"}


class HealthQuestion(Closed):
    """A question for the health of one task; no schedule asks like that."""

    request_id: str
    tenant_id: str

    @classmethod
    def asked_in(cls, event: dict[str, Any]) -> Self | None:
        return cls.model_validate(event) if "requestId" in event else None

    @property
    def ref(self) -> TaskRef | None:
        """Return the task; `None` for an id that no task can have."""
        try:
            return task_named(self.tenant_id, self.request_id)
        except ValueError:
            return None


class TaskHealth(Written):
    request_id: str
    tenant_id: str
    definition: str
    health: HealthName
    reason: str
    elapsed: int
    """Milliseconds, as is the next."""
    time_since_last_event: int
    last_event_type: str
    worker_id: str

    @classmethod
    def of(cls, task: CheckedTask) -> Self:
        return cls(
            request_id=task.ref.request_id,
            tenant_id=task.ref.tenant,
            definition=task.definition,
            health=task.health.value,
            reason=task.reason,
            elapsed=task.elapsed_ms,
            time_since_last_event=task.silent_ms,
            last_event_type=task.last_event_type,
            worker_id=task.worker_id,
        )


class UnservedTasks(Written):
    """Code that no worker serves, and how many tasks wait for it."""

    code: str
    tasks: int
    first: str
    """The request id of the task that has waited for the longest time."""
    waiting: int
    """Milliseconds, of that task."""

    @classmethod
    def of(cls, found: UnservedCode) -> Self:
        return cls(
            code=found.code,
            tasks=found.tasks,
            first=found.first.request_id,
            waiting=found.waiting_ms,
        )


class UnservedGroupTasks(Written):
    """A group that no pool serves, and how many tasks wait in it."""

    group: str
    tasks: int
    first: str
    """The request id of the task that has waited for the longest time."""
    waiting: int
    """Milliseconds, of that task."""

    @classmethod
    def of(cls, found: UnservedGroup) -> Self:
        return cls(
            group=found.group,
            tasks=found.tasks,
            first=found.first.request_id,
            waiting=found.waiting_ms,
        )


class StageHealth(Written):
    checked_at: int
    summary: HealthSummary
    tasks: tuple[TaskHealth, ...]
    """The worst first."""
    unserved: tuple[UnservedTasks, ...] = ()
    """Tasks that wait for something that no worker serves."""
    unserved_groups: tuple[UnservedGroupTasks, ...] = ()
    """Groups in which tasks wait, and that no pool serves."""

    @classmethod
    def of(cls, report: HealthReport) -> Self:
        return cls(
            unserved=tuple(map(UnservedTasks.of, report.unserved)),
            unserved_groups=tuple(map(UnservedGroupTasks.of, report.unserved_groups)),
            checked_at=report.checked_at_ms,
            summary=HealthSummary.of(report),
            tasks=tuple(map(TaskHealth.of, report.tasks)),
        )


ONE_DAY_MS = 24 * 60 * 60 * 1000
Span = Annotated[int, Field(ge=1_000, le=ONE_DAY_MS)]


class HealthSection(Closed):
    """Milliseconds; what is left out is as the stage has it."""

    silent_warning: Span | None = None
    """The silence after which a task is worth a warning."""
    silent_critical: Span | None = None
    overtime: Span | None = None
    """The time that a task may run; a minute more than its timeout when absent."""
    progress: Span | None = None
    """The time for which a task may do one and the same thing."""
    repeats: int | None = Field(default=None, ge=2, le=1_000)
    """The number of equal tool calls in a row that is too many."""

    @model_validator(mode="after")
    def _warns_before_it_is_critical(self) -> Self:
        warning, critical = self.silent_warning, self.silent_critical
        if warning is not None and critical is not None and warning >= critical:
            raise ValueError("silentWarning must be less than silentCritical")
        return self

    @property
    def limits(self) -> OwnLimits:
        return OwnLimits(
            silent_warning_ms=self.silent_warning,
            silent_critical_ms=self.silent_critical,
            overtime_ms=self.overtime,
            progress_ms=self.progress,
            repeats=self.repeats,
        )
