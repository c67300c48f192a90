"""How running tasks are, for whoever asks."""

from typing import Any, Self

from switchyard.contracts.events.checks import Health, HealthSummary
from switchyard.contracts.wire import Closed, Written
from switchyard.domain.health.health import CheckedTask, HealthReport
from switchyard.domain.ids import TaskRef, task_named

NOT_FOUND = {"health": "not_found"}


class HealthQuestion(Closed):
    """How one task is; no schedule asks like that."""

    request_id: str
    tenant_id: str

    @classmethod
    def asked_in(cls, event: dict[str, Any]) -> Self | None:
        return cls.model_validate(event) if "requestId" in event else None

    @property
    def ref(self) -> TaskRef | None:
        """`None` for an id that no task can have."""
        try:
            return task_named(self.tenant_id, self.request_id)
        except ValueError:
            return None


class TaskHealth(Written):
    request_id: str
    tenant_id: str
    definition: str
    health: Health
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


class StageHealth(Written):
    checked_at: int
    summary: HealthSummary
    tasks: tuple[TaskHealth, ...]
    """The worst first."""

    @classmethod
    def of(cls, report: HealthReport) -> Self:
        return cls(
            checked_at=report.checked_at_ms,
            summary=HealthSummary.of(report),
            tasks=tuple(map(TaskHealth.of, report.tasks)),
        )
