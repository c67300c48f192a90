"""Looks at which releases the workers of a stage run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from switchyard.domain.health.presence import PresentWorker, those_there
from switchyard.domain.health.rollout import RolloutState
from switchyard.domain.scheduling.pools import DEFAULT_POOL
from switchyard.ports import Clock, Presence


@dataclass(frozen=True, kw_only=True)
class RolloutWatch:
    presence: Presence
    current: Callable[[], str | None]
    """Returns the release that the service wants to run. Raises `Unavailable`."""
    clock: Clock

    def look(self) -> RolloutState:
        """Compare the workers of the default pool; those of others have releases of their own."""
        workers = [one for one in self.workers() if (one.pool or DEFAULT_POOL) == DEFAULT_POOL]
        return RolloutState(current=self.current(), workers=workers)

    def workers(self) -> Sequence[PresentWorker]:
        return those_there(self.presence.all(), now_ms=self.clock.now_ms())
