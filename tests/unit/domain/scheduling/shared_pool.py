"""A pool whose workers share one group: what tenants get by the clocks that workers read.

Every slot is a worker of its own with a cache of its own, which is the worst case.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.scheduling.clocks import (
    ExpectedCosts,
    Group,
    TenantClock,
    charge_of,
    correction_of,
)

GROUP: Final = "default"


@dataclass(frozen=True, slots=True, order=True)
class Arrival:
    at: float
    tenant: str
    cost_usd: float = 1.0
    seconds: float = 5.0
    definition: str = "review"


@dataclass(frozen=True, slots=True)
class Start:
    at: float
    arrival: Arrival


@dataclass
class Worker:
    seen: Group = field(default_factory=Group)
    read_at: float = float("-inf")
    unwritten: dict[str, float] = field(default_factory=dict)
    costs: ExpectedCosts = field(default_factory=ExpectedCosts)


class SharedPool:
    """Runs arrivals in virtual time; every worker reads and writes clocks at most once a period."""

    def __init__(
        self,
        *,
        slots: int,
        cache_seconds: float = 1.0,
        weights: dict[str, float] | None = None,
        estimate_factor: float = 1.0,
        learns: bool = True,
    ) -> None:
        self._workers = [Worker() for _ in range(slots)]
        self._cache_seconds = cache_seconds
        self._weights = weights or {}
        self._factor = estimate_factor
        self._learns = learns
        self._stored = Group()
        self._backlogs: dict[str, deque[Arrival]] = {}
        self.starts: list[Start] = []
        self._costs: list[float] = []

    def run(self, arrivals: Iterable[Arrival]) -> list[Start]:
        numbers = itertools.count()
        events: list[tuple[float, int, object]] = [
            (one.at, next(numbers), one) for one in sorted(arrivals)
        ]
        heapq.heapify(events)
        idle = deque(self._workers)
        while events:
            now = events[0][0]
            while events and events[0][0] == now:
                _, _, what = heapq.heappop(events)
                if isinstance(what, Arrival):
                    self._arrive(what)
                elif isinstance(what, tuple):
                    idle.append(self._settle(*what))
            for _ in range(len(idle)):
                worker = idle.popleft()
                started = self._start(worker, now)
                if started is None:
                    idle.append(worker)
                else:
                    arrival, expected = started
                    done = (now + arrival.seconds, next(numbers), (worker, arrival, expected))
                    heapq.heappush(events, done)
        return self.starts

    def _arrive(self, arrival: Arrival) -> None:
        if arrival.tenant not in self._backlogs:
            self._backlogs[arrival.tenant] = deque()
            mark = TenantClock(
                tenant=arrival.tenant,
                clock=self._stored.floor,
                weight=self._weights.get(arrival.tenant, 1.0),
            )
            tenants = {**self._stored.tenants, arrival.tenant: mark}
            self._stored = Group(tenants=tenants, floor=self._stored.floor)
        self._backlogs[arrival.tenant].append(arrival)

    def _start(self, worker: Worker, now: float) -> tuple[Arrival, float] | None:
        self._exchange(worker, now)
        passed: list[str] = []
        for tenant in worker.seen.in_order():
            if self._backlogs[tenant]:
                return self._claim(worker, tenant, passed, now)
            passed.append(tenant)
        return None

    def _claim(
        self, worker: Worker, tenant: str, passed: list[str], now: float
    ) -> tuple[Arrival, float]:
        clock = worker.seen.clock_of(tenant)
        arrival = self._backlogs[tenant].popleft()
        begins = worker.seen.is_idle(tenant)
        worker.seen = worker.seen.chosen(tenant, passed_over=passed)
        expected = worker.costs.expected(tenant, arrival.definition, mean_usd=self._mean(arrival))
        self._charge(worker, tenant, charge_of(expected, weight=self._weight(tenant)))
        self._write(tenant, clock, begins=begins)
        self.starts.append(Start(now, arrival))
        return arrival, expected

    def _mean(self, arrival: Arrival) -> float:
        return arrival.cost_usd * self._factor

    def _settle(self, worker: Worker, arrival: Arrival, expected: float) -> Worker:
        weight = self._weight(arrival.tenant)
        correction = correction_of(expected, arrival.cost_usd, weight=weight)
        self._charge(worker, arrival.tenant, correction)
        if self._learns:
            worker.costs.note(arrival.tenant, arrival.definition, arrival.cost_usd)
        return worker

    def _charge(self, worker: Worker, tenant: str, charge: float) -> None:
        worker.seen = worker.seen.charged(tenant, charge)
        worker.unwritten[tenant] = worker.unwritten.get(tenant, 0.0) + charge

    def _write(self, tenant: str, clock: float, *, begins: bool) -> None:
        """Write at once what is written on condition: the floor, and the clock of who is back."""
        tenants = dict(self._stored.tenants)
        if begins:
            back = max(tenants[tenant].clock, self._stored.floor)
            tenants[tenant] = replace(tenants[tenant], clock=back)
        self._stored = Group(tenants=tenants, floor=max(self._stored.floor, clock))

    def _exchange(self, worker: Worker, now: float) -> None:
        """Write what was charged, and read the clocks, once the cache is over."""
        if now - worker.read_at < self._cache_seconds:
            return
        for tenant, charge in worker.unwritten.items():
            self._stored = self._stored.charged(tenant, charge)
        worker.unwritten.clear()
        tenants = [
            replace(one, idle=worker.seen.is_idle(name))
            for name, one in self._stored.tenants.items()
        ]
        worker.seen, worker.read_at = Group.of(tenants, floor=self._stored.floor), now

    def _weight(self, tenant: str) -> float:
        return self._weights.get(tenant, 1.0)


def spent(starts: Iterable[Start], tenant: str, *, since: float, until: float) -> float:
    """Return what a tenant's tasks cost that started in this time."""
    return sum(
        start.arrival.cost_usd
        for start in starts
        if start.arrival.tenant == tenant and since <= start.at < until
    )


def arrivals_of(
    tenant: str,
    count: int,
    *,
    seed: int,
    at: float = 0.0,
    cost_usd: float = 1.0,
    seconds: float = 5.0,
) -> list[Arrival]:
    """Return tasks of one tenant that are there from one moment on; each costs up to `cost_usd`."""
    drawn = random.Random(f"{seed}-{tenant}")
    return [
        Arrival(at, tenant, cost_usd * drawn.uniform(0.5, 1.0), seconds * drawn.uniform(0.5, 1.0))
        for _ in range(count)
    ]
