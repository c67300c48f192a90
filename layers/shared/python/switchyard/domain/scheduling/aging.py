"""Orders a tenant's own tasks: by priority class, where waiting raises the class.

No stored key changes: the rank is computed when a worker looks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, TypeVar

from switchyard.domain.scheduling.ready import class_number

HIGHEST: Final = 1
AGING: Final = timedelta(minutes=10)
"""After this wait a task ranks one class higher, after twice as long two; a stage may change it."""


class Waiting(Protocol):
    """A task that waits for a worker."""

    @property
    def priority(self) -> str: ...

    @property
    def ready_from_ms(self) -> int: ...


W = TypeVar("W", bound=Waiting)


@dataclass(frozen=True, slots=True)
class Aging:
    step_ms: int = int(AGING / timedelta(milliseconds=1))

    def rank(self, task: Waiting, *, now_ms: int) -> int:
        """Return the class that the task counts as now; 1 is served first."""
        waited_ms = max(0, now_ms - task.ready_from_ms)
        steps = min(2, waited_ms // self.step_ms)
        return max(HIGHEST, class_number(task.priority) - steps)

    def in_order(self, tasks: Iterable[W], *, now_ms: int) -> list[W]:
        """Return those that may start now, the best first: by rank, then the oldest."""
        ready = [task for task in tasks if task.ready_from_ms <= now_ms]
        return sorted(ready, key=lambda task: (self.rank(task, now_ms=now_ms), task.ready_from_ms))


DEFAULT_AGING: Final = Aging()
