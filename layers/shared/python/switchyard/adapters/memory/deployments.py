"""The release of a worker, in memory."""

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.rollout import Deployment


class MemoryDeployments:
    """Without a release it is the twin of a machine on which nothing replaces workers."""

    def __init__(self, own: str | None = None) -> None:
        self._own = own
        self.current = own
        self.outage: Unavailable | None = None

    def look(self) -> Deployment | None:
        if self.outage:
            raise self.outage
        if self._own is None or self.current is None:
            return None
        return Deployment(own=self._own, current=self.current)
