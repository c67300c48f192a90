"""The release of the service that a worker belongs to."""

from typing import Protocol

from switchyard.domain.health.rollout import Deployment


class Deployments(Protocol):
    """Sees from which release of its service this worker was started, and which one is current."""

    def look(self) -> Deployment | None:
        """Return `None` where no service replaces workers. Raise `Unavailable`."""
