"""The brake for all workers of a stage."""

from typing import Protocol

from switchyard.domain.health.consumption import Pause


class Consumption(Protocol):
    """Whether workers take tasks. What runs, runs on. Each call may raise `Unavailable`."""

    def pause(self, *, now_ms: int, reason: str | None = None) -> Pause:
        """From now on. If it is paused already, that pause stays and is returned."""

    def resume(self) -> None:
        """Harmless if it is not paused."""

    def paused(self) -> Pause | None: ...
