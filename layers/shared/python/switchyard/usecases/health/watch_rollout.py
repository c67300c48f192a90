"""Looks at which releases the workers of a stage run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from switchyard.domain.health.presence import PresentWorker, those_there
from switchyard.domain.health.rollout import RolloutState
from switchyard.ports import Clock, Presence


@dataclass(frozen=True, kw_only=True)
class RolloutWatch:
    presence: Presence
    current: Callable[[], str | None]
    """Returns the release that the service wants to run. Raises `Unavailable`."""
    clock: Clock

    def look(self) -> RolloutState:
        return RolloutState(current=self.current(), workers=self.workers())

    def workers(self) -> Sequence[PresentWorker]:
        return those_there(self.presence.all(), now_ms=self.clock.now_ms())
