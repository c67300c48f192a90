"""In-memory twin of what operators changed of pools' subscriptions."""

from collections.abc import Mapping

from switchyard.domain.scheduling.pools import ChangedWeights


class MemorySubscriptionStore:
    def __init__(self) -> None:
        self._changed: dict[str, dict[str, int]] = {}

    def all(self) -> Mapping[str, ChangedWeights]:
        return {pool: dict(weights) for pool, weights in self._changed.items()}

    def change(self, pool: str, group: str, weight: int) -> ChangedWeights:
        weights = self._changed.setdefault(pool, {})
        weights[group] = weight
        return dict(weights)
