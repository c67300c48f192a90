"""Keeps groups going after lost wake-ups: fills up the queue, frees who waits, clears old marks.

It decides nothing: a token too many costs a receive, and a task that is let in too early waits
again. May run at any time, also twice at once.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, cycle, islice, zip_longest
from typing import Final

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.scheduling.limits import MINUTE_MS, LimitRef
from switchyard.domain.scheduling.pauses import paused_by
from switchyard.domain.scheduling.ready import Partition, ReadyTask
from switchyard.domain.tasks.task import Task, milliseconds
from switchyard.domain.text import in_slices
from switchyard.ports import (
    Clock,
    PauseSwitch,
    ReadyIndex,
    StartLimits,
    TaskGraph,
    TaskQueue,
    TenantClocks,
    TenantInGroup,
)

MARKED_FOR_MS: Final = milliseconds(timedelta(hours=1))
"""A mark is older than any pause between it and its key, and than any lag of the index."""
LIMITED_AT_A_TIME: Final = 100
HOLDERS_AT_A_TIME: Final = 10
HELD_AT_A_TIME: Final = 100
HELD_PAGES: Final = 5
SENT_AT_ONCE: Final = 10
ANY_RUN: Final = 1
"""A token says nothing about a run: the task that it names is a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptGroup:
    """What was found and done in a group."""

    group: str
    claimable: int
    """How many tasks could be claimed, counted up to a bound."""
    sent: int
    let_in: int
    resumed: int
    """How many tasks came back after a pause."""
    unmarked: int


@dataclass(frozen=True, kw_only=True)
class GroupSweeper:
    groups: Callable[[], Collection[str]]
    """Returns the groups that some pool serves now."""
    index: ReadyIndex
    clocks: TenantClocks
    limits: StartLimits
    graph: TaskGraph
    pause_switch: PauseSwitch
    queue: TaskQueue
    waiting: Callable[[str], int]
    """Counts the wake-ups that wait for a group, in the emptiest of the queues that serve it."""
    clock: Clock
    most_tokens: int
    """What the pool can start in two sweeps."""

    def sweep(self) -> Iterator[SweptGroup]:
        """Look at every group that has tenants with work. Raise `Unavailable`."""
        for group in self.groups():
            clocks = self.clocks.of_group(group)
            marked = [one for one in clocks.tenants if one.marked_at_ms is not None]
            if marked:
                yield self._sweep(group, marked)

    def _sweep(self, group: str, marked: Sequence[TenantInGroup]) -> SweptGroup:
        parts = self.pause_switch.paused_parts()
        resumed = sum(self._resume(group, one.tenant, parts) for one in marked)
        let_in = sum(self._let_in(group, one.tenant) for one in marked)
        claimable = self._count(group, marked)
        sent = self._fill_up(group, marked, claimable) if claimable else 0
        unmarked = sum(self._unmark(group, one) for one in marked)
        return SweptGroup(
            group=group,
            claimable=claimable,
            sent=sent,
            let_in=let_in,
            resumed=resumed,
            unmarked=unmarked,
        )

    def _count(self, group: str, marked: Sequence[TenantInGroup]) -> int:
        now_ms, counted = self.clock.now_ms(), 0
        for one in marked:
            left = self.most_tokens - counted
            if left <= 0:
                break
            counted += self.index.count(group, one.tenant, now_ms=now_ms, at_most=left)
        return counted

    def _fill_up(self, group: str, marked: Sequence[TenantInGroup], claimable: int) -> int:
        """Send tokens until as many can be received as tasks can be claimed, up to the bound."""
        missing = claimable - self.waiting(group)
        if missing <= 0:
            return 0
        heads = list(islice(self._heads(group, marked, missing), missing))
        tokens = [TaskMessage.to(task.ref, run=ANY_RUN, group=group) for task in heads]
        for some in in_slices(tokens, SENT_AT_ONCE):
            self.queue.send(some)
        return len(tokens)

    def _heads(
        self, group: str, marked: Sequence[TenantInGroup], at_most: int
    ) -> Iterator[ReadyTask]:
        """Return tasks of all tenants in turn: none waits behind another's thousands."""
        now_ms = self.clock.now_ms()
        of_tenants = [
            self.index.heads(group, one.tenant, now_ms=now_ms, limit=at_most) for one in marked
        ]
        return (task for task in chain(*zip_longest(*of_tenants)) if task is not None)

    def _let_in(self, group: str, tenant: str) -> int:
        """Move tasks back whose limits have room again, and wake workers for them."""
        page = self.index.page(
            Partition.LIMITED, group, tenant, limit=LIMITED_AT_A_TIME, cursor=None
        )
        names = dict.fromkeys(name for task in page.tasks for name in task.limits)
        moved: list[Task] = []
        for name in names:
            ref, now_ms = LimitRef(tenant, name), self.clock.now_ms()
            if self.limits.free(ref, now_ms=now_ms) == 0:
                self._free_stale(ref)
            moved += self.limits.let_in(ref, now_ms=now_ms, at_most=LIMITED_AT_A_TIME)
        for some in in_slices([TaskMessage.waking(task) for task in moved], SENT_AT_ONCE):
            self.queue.send(some)
        return len(moved)

    def _resume(self, group: str, tenant: str, parts: frozenset[str]) -> int:
        """Move tasks back that no pause holds any more; the next sweep goes on."""
        resumed, cursor = 0, None
        for _ in range(HELD_PAGES):
            page = self.index.page(
                Partition.HELD, group, tenant, limit=HELD_AT_A_TIME, cursor=cursor
            )
            free = [one for one in page.tasks if not paused_by(one, parts)]
            resumed += sum(self._moved_back(one) for one in free)
            cursor = page.cursor
            if cursor is None:
                break
        return resumed

    def _moved_back(self, ready: ReadyTask) -> bool:
        task = self.graph.find(ready.ref)
        return task is not None and self.index.move(task, Partition.READY)

    def _free_stale(self, ref: LimitRef) -> None:
        """Take the places of some runs that nobody runs any more; each sweep looks at others."""
        holders = self.limits.holders(ref)
        if holders:
            some = min(HOLDERS_AT_A_TIME, len(holders))
            start = self.clock.now_ms() // MINUTE_MS * some % len(holders)
            for holder in islice(cycle(holders), start, start + some):
                self.limits.remove_stale(ref, holder)

    def _unmark(self, group: str, marked: TenantInGroup) -> bool:
        """Clear the mark of a tenant that has had no key for long."""
        since = marked.marked_at_ms
        if since is None or self.clock.now_ms() - since < MARKED_FOR_MS:
            return False
        if self.index.holds_any(group, marked.tenant):
            return False
        return self.clocks.unmark(group, marked.tenant, marked_at_ms=since)
