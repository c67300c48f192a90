"""Knows which groups of work queues are served, and how many wake-ups wait for each."""

from switchyard.domain.scheduling.groups import DEFAULT_GROUP
from switchyard.ports import QueueDepths
from switchyard.usecases.scheduling.pool_directory import PoolDirectory


class ServedGroups:
    """The groups that pools serve now; on a stage without pools, the default one alone."""

    def __init__(
        self, queue_url: str, *, directory: PoolDirectory | None, depths: QueueDepths
    ) -> None:
        """Use the queue at `queue_url` on a stage without pools, which has no `directory`."""
        self._queue_url = queue_url
        self._directory = directory
        self._depths = depths

    def names(self) -> list[str]:
        """Return the groups in order. Raise `Unavailable`."""
        return sorted(self._directory.groups()) if self._directory else [DEFAULT_GROUP]

    def waiting(self, group: str) -> int:
        """Count the wake-ups in the emptiest of the queues that serve a group.

        Raise `Unavailable`.
        """
        if self._directory is None:
            return self._depths.of(self._queue_url).waiting
        pools = self._directory.serving(group)
        return min((self._depths.of(one.queue_url).waiting for one in pools), default=0)
