"""Finds the task that a worker should try next: by the ready index and tenants' clocks."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.choice import MORE_HEADS, Choosing, Heads, Why, candidates
from switchyard.domain.scheduling.clocks import Group
from switchyard.domain.scheduling.policies import Turns
from switchyard.domain.scheduling.pools import Subscription
from switchyard.domain.scheduling.ready import ReadyTask, group_of
from switchyard.ports import ReadyIndex
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.receive.tenant_clocks import ClocksOfGroups

Subscriptions = Callable[[], Sequence[Subscription]]
"""Reads what the worker's pool is subscribed to. Raises `Unavailable`."""

CACHE_SECONDS: Final = 1.0
MOST_HEADS: Final = 50
MOST_CACHED: Final = 1_000
"""How many tenants' tasks are remembered at most; beyond it all are read anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    task: ReadyTask
    why: Why
    without_work: tuple[str, ...]
    """The tenants of its group whose turn was before, and who had none."""
    empty_groups: tuple[str, ...]
    """The groups whose turn was before."""


@dataclass(slots=True)
class _Read:
    tasks: Sequence[ReadyTask]
    at: float
    gone: set[TaskRef] = field(default_factory=set)
    """The tasks that were tried since."""

    def left(self, without: Collection[TaskRef]) -> list[ReadyTask]:
        return [one for one in self.tasks if one.ref not in self.gone and one.ref not in without]


class CandidateFinder:
    """Remembers for a second what the index showed: slots that become free together share it."""

    def __init__(
        self,
        runtime: Runtime,
        index: ReadyIndex,
        clocks: ClocksOfGroups,
        *,
        turns: Turns,
        choosing: Choosing,
        subscriptions: Subscriptions | None = None,
    ) -> None:
        """`subscriptions` are those of the worker's pool now; without them its turns stay."""
        self._runtime = runtime
        self._index = index
        self._clocks = clocks
        self._turns = turns
        self._choosing = choosing
        self._subscriptions = subscriptions
        self._followed_at: float | None = None
        self._reads: dict[tuple[str, str], _Read] = {}

    async def best(
        self, *, without: Collection[TaskRef], named: ReadyTask | TaskRef | None = None
    ) -> Found | None:
        """Return the best task that was not tried; `None` if no tenant has any.

        `named` is what the worker's token names: as its item says, or its name alone, which counts
        where the index shows it. Raise `Unavailable`.
        """
        await self._follow_subscriptions()
        if isinstance(named, ReadyTask):
            self._turns.join(group_of(named.queue))
        empty: list[str] = []
        for group in self._turns.order(self._runtime.randomness.between):
            clocks = await self._clocks.read(group)
            found = await self._in_group(group, clocks, without, named, tuple(empty))
            if found is not None:
                return found
            empty.append(group)
        return None

    async def _follow_subscriptions(self) -> None:
        now = self._runtime.clock.monotonic()
        followed = self._followed_at
        if self._subscriptions is None or (followed is not None and now - followed < CACHE_SECONDS):
            return
        self._followed_at = now
        self._turns.follow(await self._runtime.offload(self._subscriptions))

    async def shows_any(self) -> bool:
        """Return whether the index still shows tasks: then others were faster, or it lags."""
        self._reads.clear()
        for group in self._turns.order(self._runtime.randomness.between):
            await self._clocks.read(group)
            for tenant in self._clocks.in_order(group):
                if (await self._read(group, tenant)).tasks:
                    return True
        return False

    def note_tried(self, task: ReadyTask) -> None:
        """Let no other slot try this task: it is being claimed, or nobody may."""
        read = self._reads.get((group_of(task.queue), task.ref.tenant))
        if read is not None:
            read.gone.add(task.ref)

    async def note_claimed(self, found: Found) -> None:
        """Note whose turn was used."""
        self._turns.served(found.why.group, empty=found.empty_groups)
        await self._clocks.choose(
            found.why.group, found.task.ref.tenant, passed_over=found.without_work
        )

    async def _in_group(
        self,
        group: str,
        clocks: Group,
        without: Collection[TaskRef],
        named: ReadyTask | TaskRef | None,
        empty: tuple[str, ...],
    ) -> Found | None:
        own = named if isinstance(named, ReadyTask) and group_of(named.queue) == group else None
        idle: list[str] = []
        for tenant in self._tenants(group, clocks, own):
            read = await self._untried(group, tenant, without)
            tasks = read.left(without)
            if own and own.ref.tenant == tenant and own.ref not in without:
                tasks = [*(task for task in tasks if task.ref != own.ref), own]
            heads = Heads(group=group, clock=clocks.clock_of(tenant), tasks=tasks)
            tries = candidates(
                heads,
                self._choosing,
                now_ms=self._runtime.clock.now_ms(),
                between=self._runtime.randomness.between,
                named=_among(tasks, named),
            )
            if tries:
                return Found(
                    task=tries[0].task,
                    why=tries[0].why,
                    without_work=tuple(idle),
                    empty_groups=empty,
                )
            if not read.tasks:
                idle.append(tenant)
        return None

    def _tenants(self, group: str, clocks: Group, own: ReadyTask | None) -> list[str]:
        tenants = self._clocks.in_order(group)
        if own and own.ref.tenant not in tenants:  # its mark is to come, or younger than our read
            tenants = sorted([*tenants, own.ref.tenant], key=clocks.clock_of)
        return tenants

    async def _untried(self, group: str, tenant: str, without: Collection[TaskRef]) -> _Read:
        """Return what the index showed; read it again once all of that is gone or was tried."""
        read = await self._read(group, tenant)
        now = self._runtime.clock.monotonic()
        if read.left(without) or not read.tasks or read.at == now:
            return read
        self._reads.pop((group, tenant), None)
        return await self._read(group, tenant)

    async def _read(self, group: str, tenant: str) -> _Read:
        now = self._runtime.clock.monotonic()
        found = self._reads.get((group, tenant))
        if found is not None and now - found.at < CACHE_SECONDS:
            return found
        if len(self._reads) >= MOST_CACHED:
            self._reads.clear()
        tasks = await self._runtime.offload(
            self._index.heads,
            group,
            tenant,
            now_ms=self._runtime.clock.now_ms(),
            limit=min(MOST_HEADS, self._choosing.slots + MORE_HEADS),
        )
        read = self._reads[group, tenant] = _Read(tasks, now)
        return read


def _among(tasks: Sequence[ReadyTask], named: ReadyTask | TaskRef | None) -> ReadyTask | None:
    ref = named.ref if isinstance(named, ReadyTask) else named
    return next((task for task in tasks if task.ref == ref), None)
