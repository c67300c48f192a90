"""Events of the health check."""

from typing import ClassVar, Final, Literal, Self

from switchyard.contracts.events.properties import Properties
from switchyard.contracts.wire import Written
from switchyard.domain.events.event_keys import EntityType
from switchyard.domain.health import health
from switchyard.domain.health.health import HealthReport

HEALTH_CHECK: Final = "health-check"

Health = Literal["healthy", "warning", "not_progressing", "overtime", "critical"]


class HealthSummary(Written):
    total_processing: int
    healthy: int
    warning: int
    critical: int
    overtime: int
    not_progressing: int = 0

    @classmethod
    def of(cls, report: HealthReport) -> Self:
        counts = {found.value: len(report.of(found)) for found in health.Health}
        return cls(total_processing=len(report.tasks), **counts)


class CheckedTask(Written):
    request_id: str
    health: Health
    elapsed: int
    """Milliseconds, as is the next."""
    time_since_last_event: int
    last_event_type: str
    worker_id: str


class TaskHealthCheck(Properties):
    """A health check of a tenant's tasks, of no single task or job.

    It lists the worst 500 tasks; the summary counts all.
    """

    event_type: ClassVar[str] = "Task Health Check"
    entity_type: ClassVar[EntityType] = EntityType.STORE

    run: int = 1
    checked_at: int
    summary: HealthSummary
    tasks: tuple[CheckedTask, ...]

    @property
    def entity_id(self) -> str:
        return HEALTH_CHECK

    @property
    def number(self) -> int:
        return self.checked_at
