"""Knows which pools serve which groups now, and sends wake-ups to their queues."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from switchyard.contracts.messages import TaskMessage, group_in, wake_up_in
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.scheduling.pools import (
    ChangedWeights,
    DeployedPool,
    Subscription,
    problem_with_subscribing,
    subscriptions_of,
)
from switchyard.ports import Clock, Received, SubscriptionStore, TaskInbox, TaskQueue

CACHED_SECONDS: Final = 5.0


class UnknownPool(Rejected):
    """No pool of the stage has this name."""


class PoolDirectory:
    """Reads operators' changes every few seconds, so that a change needs no restart.

    While the table is out of reach, what was read last holds.
    """

    def __init__(
        self, pools: Collection[DeployedPool], *, store: SubscriptionStore, clock: Clock
    ) -> None:
        self._pools = {deployed.name: deployed for deployed in pools}
        self._store = store
        self._clock = clock
        self._changed: Mapping[str, ChangedWeights] | None = None
        self._read_at = 0.0

    @property
    def pools(self) -> Sequence[DeployedPool]:
        return list(self._pools.values())

    def named(self, name: str) -> DeployedPool:
        if name not in self._pools:
            known = ", ".join(self._pools)
            raise UnknownPool(f"there is no pool '{name}'; the pools of this stage are {known}")
        return self._pools[name]

    def subscriptions(self, name: str) -> tuple[Subscription, ...]:
        """Return what a pool serves now. Raise `Unavailable`."""
        return subscriptions_of(self.named(name).pool, self._changes().get(name, {}))

    def serving(self, group: str) -> list[DeployedPool]:
        """Return the pools that serve a group now; there may be none. Raise `Unavailable`."""
        return [
            deployed
            for deployed in self._pools.values()
            if any(one.group == group for one in self.subscriptions(deployed.name))
        ]

    def groups(self) -> frozenset[str]:
        """Return the groups that some pool serves now. Raise `Unavailable`."""
        return frozenset(one.group for name in self._pools for one in self.subscriptions(name))

    def subscribe(self, name: str, subscription: Subscription) -> tuple[Subscription, ...]:
        """Let a pool serve a group, or serve it with another weight.

        Raise `Rejected` if it cannot, or `Unavailable`.
        """
        pool = self.named(name).pool
        others = [one.pool.kind for one in self.serving(subscription.group) if one.name != name]
        problem = problem_with_subscribing(pool, self.subscriptions(name), subscription, others)
        if problem:
            raise Rejected(problem)
        return self._change(name, subscription.group, subscription.weight)

    def unsubscribe(self, name: str, group: str) -> tuple[Subscription, ...]:
        """End the subscription of a pool. Raise `Rejected` if it has none, or `Unavailable`."""
        if group not in {one.group for one in self.subscriptions(name)}:
            raise Rejected(f"the pool {name} does not serve the group {group[:50]}")
        return self._change(name, group, 0)

    def _change(self, name: str, group: str, weight: int) -> tuple[Subscription, ...]:
        changed = self._store.change(name, group, weight)
        self._changed = None
        return subscriptions_of(self.named(name).pool, changed)

    def _changes(self) -> Mapping[str, ChangedWeights]:
        now = self._clock.monotonic()
        if self._changed is None or now - self._read_at >= CACHED_SECONDS:
            try:
                self._changed = self._store.all()
            except Unavailable:
                if self._changed is None:
                    raise
            self._read_at = now
        return self._changed


class PoolQueues:
    """The task queue of a stage with pools: a wake-up goes to every pool that serves its group.

    A group that no pool serves gets none: its tasks wait until the sweeper finds them overdue.
    """

    def __init__(self, directory: PoolDirectory, queue_at: Callable[[str], TaskQueue]) -> None:
        """`queue_at` returns the queue with a URL."""
        self._directory = directory
        self._queue_at = queue_at

    def send(self, messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        by_group: dict[str, list[TaskMessage]] = {}
        for message in messages:
            by_group.setdefault(message.group, []).append(message)
        for group, wake_ups in by_group.items():
            for deployed in self._directory.serving(group):
                queue = self._queue_at(deployed.queue_url)
                queue.send(wake_ups, delay_seconds=delay_seconds)


class PoolInbox:
    """The inbox of a pool's worker: passes on what its pool has ceased to serve."""

    def __init__(
        self, pool: str, *, inbox: TaskInbox, directory: PoolDirectory, queue: TaskQueue
    ) -> None:
        self._pool = pool
        self._inbox = inbox
        self._directory = directory
        self._queue = queue

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]:
        received = self._inbox.receive(
            at_most=at_most, wait_seconds=wait_seconds, visibility_seconds=visibility_seconds
        )
        if not received:
            return received
        served = {None, *(one.group for one in self._directory.subscriptions(self._pool))}
        return [
            message
            for message in received
            if group_in(message) in served or not self._passed_on(message)
        ]

    def _passed_on(self, message: Received) -> bool:
        """Send a wake-up to those that serve its group; false if it is no wake-up of ours."""
        wake_up = wake_up_in(message)
        if wake_up is None:
            return False
        self._queue.send([wake_up])
        self._inbox.delete(message)
        return True

    def extend(self, message: Received, *, seconds: int) -> None:
        self._inbox.extend(message, seconds=seconds)

    def delete(self, *messages: Received) -> None:
        self._inbox.delete(*messages)
