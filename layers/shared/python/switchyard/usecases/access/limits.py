"""Holds keys to so many requests, and tenants to so many open tasks.

Jobs that are submitted at the same moment do not see each other, and may pass the limit of open
tasks together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from switchyard.contracts.wire import instant
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import (
    Admitted,
    DayUsedUp,
    OpenJob,
    RequestLimits,
    TooFast,
    is_left_over,
    open_with,
    room_problems,
)
from switchyard.domain.errors import InvalidJob, TooManyRequests, Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.text import in_slices
from switchyard.ports import Clock, JobStore, OpenTasks, RequestRates

MAX_REMEMBERED: Final = 1_000
"""Keys: more than take part in a flood, and less than a function's memory would notice."""

_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Wait:
    reason: str
    until_us: int


@dataclass(frozen=True, kw_only=True)
class Gate:
    rates: RequestRates
    limits: RequestLimits
    clock: Clock
    waits: dict[Caller, Wait] = field(default_factory=dict)
    """The waits of refused callers, oldest first: until they end, a flood costs no writes.

    What other functions count meanwhile can only make them longer.
    """

    def admit(self, caller: Caller) -> str | None:
        """Raise `TooManyRequests`.

        A request that could not be counted is let in, and the answer is why: a limit that cannot be
        checked shall not be what keeps a tenant out.
        """
        now_ms = self.clock.now_ms()
        known = self.waits.get(caller)
        if known is not None and known.until_us > now_ms * 1000:
            raise _refusal(known, now_ms)
        try:
            verdict = self.rates.take(caller, limits=self.limits, now_ms=now_ms)
        except Unavailable as outage:
            return str(outage)
        self.waits.pop(caller, None)
        if isinstance(verdict, Admitted):
            return None
        wait = self._wait(verdict, now_ms)
        self._remember(caller, wait)
        raise _refusal(wait, now_ms)

    def _remember(self, caller: Caller, wait: Wait) -> None:
        if len(self.waits) >= MAX_REMEMBERED:
            del self.waits[next(iter(self.waits))]
        self.waits[caller] = wait

    def _wait(self, verdict: TooFast | DayUsedUp, now_ms: int) -> Wait:
        limits = self.limits
        if isinstance(verdict, TooFast):
            allowed = f"{limits.per_second:,} requests a second, and {limits.burst:,} at once"
            return Wait(f"a key may make {allowed}", now_ms * 1000 + verdict.wait_us)
        again = f"the next day begins at {instant(verdict.resets_at_ms):%Y-%m-%dT%H:%M:%SZ}"
        reason = f"a key may make {limits.per_day:,} requests a day; {again}"
        return Wait(reason, verdict.resets_at_ms * 1000)


def _refusal(wait: Wait, now_ms: int) -> TooManyRequests:
    seconds = -(-(wait.until_us - now_ms * 1000) // _SECOND_US)
    return TooManyRequests(wait.reason, retry_after_seconds=max(1, seconds))


CHECKED_AT_ONCE: Final = 100
MOST_CHECKED: Final = 500
"""The most jobs whose tasks are counted in one request that would be refused."""


@dataclass(frozen=True, kw_only=True)
class OpenTaskLimit:
    open_tasks: OpenTasks
    jobs: JobStore
    clock: Clock
    most: int

    def take(self, ref: JobRef, *, tasks: int, run: int = 1) -> None:
        """Count a new job. Raise `InvalidJob` if the tenant would have too many open tasks."""
        self.require_room(ref, tasks=tasks)
        self.open_tasks.note(ref, run=run, tasks=tasks, now_ms=self.clock.now_ms())

    def take_more(self, job: Job, *, added: int) -> None:
        """Count tasks that are added to a job; otherwise as `take`."""
        counted = self.open_tasks.of_tenant(job.ref.tenant)
        known = [one.tasks for one in counted if one.ref == job.ref]
        tasks = min([job.total_tasks, *known]) + added
        self._require_room(counted, job.ref, tasks)
        self.open_tasks.note(job.ref, run=job.run, tasks=tasks, now_ms=self.clock.now_ms())

    def require_room(self, ref: JobRef, *, tasks: int) -> None:
        """Raise `InvalidJob` if the job cannot have so many open tasks."""
        self._require_room(self.open_tasks.of_tenant(ref.tenant), ref, tasks)

    def _require_room(self, counted: Sequence[OpenJob], ref: JobRef, tasks: int) -> None:
        total = open_with(counted, ref, tasks)
        if total > self.most:
            total -= self._closed(counted, ref, enough=total - self.most)
        problems = room_problems(total, most=self.most)
        if problems:
            raise InvalidJob(problems)

    def _closed(self, counted: Sequence[OpenJob], ref: JobRef, *, enough: int) -> int:
        """Count no more what is left over, and return how many tasks that were.

        Whatever ended between a job's settling and its closing left it counted. Each request begins
        behind its own job's id, which is random, so that none is passed over for ever.
        """
        others = [job for job in counted if job.ref != ref]
        turned = [*(j for j in others if j.ref > ref), *(j for j in others if j.ref < ref)]
        closed = 0
        for some in in_slices(turned[:MOST_CHECKED], CHECKED_AT_ONCE):
            closed += self._close_left_over(some)
            if closed >= enough:
                break
        return closed

    def _close_left_over(self, some: Sequence[OpenJob]) -> int:
        now_ms = self.clock.now_ms()
        found = {job.ref: job for job in self.jobs.find_many([one.ref for one in some])}
        over = [one for one in some if is_left_over(one, found.get(one.ref), now_ms=now_ms)]
        for one in over:
            self.open_tasks.close(one.ref, run=one.run)
        return sum(one.tasks for one in over)
