"""What the health check saw."""

from typing import ClassVar, Final, Literal

from switchyard.contracts.events.properties import Properties
from switchyard.contracts.wire import Wire
from switchyard.domain.event_keys import EntityType

HEALTH_CHECK: Final = "health-check"

Health = Literal["healthy", "warning", "critical", "overtime"]


class HealthSummary(Wire):
    total_processing: int
    healthy: int
    warning: int
    critical: int
    overtime: int


class CheckedTask(Wire):
    request_id: str
    health: Health
    elapsed: int
    """Milliseconds, as is the next."""
    time_since_last_event: int
    last_event_type: str
    worker_id: str


class TaskHealthCheck(Properties):
    """About no single task or job: it belongs to the yard itself."""

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
