"""Limits of a stage: requests of a key, open tasks of a tenant, and ceilings for definitions.

Requests: so many a second, some of them at once, so many a day. `free_at_us` is when the key would
be idle again had its requests come evenly, one a step (this is known as GCRA). It may run ahead of
the clock by as much as a burst takes, so within any time `t` no more than `burst + rate * t` are
admitted. In microseconds: few rates divide a millisecond.

Ceilings (models, tools, limits of an attempt) are checked when a definition is registered, when a
job is submitted, extended or redriven, and once more where an attempt is planned: a definition may
be older than the ceiling.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.moments import day_of, end_of_day_ms
from switchyard.domain.states import JobState

_SECOND_US: Final = 1_000_000
_SKEW_US: Final = _SECOND_US  # clocks of functions differ by far less


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    per_second: int = 100
    burst: int = 50
    per_day: int = 10_000

    @property
    def step_us(self) -> int:
        return -(-_SECOND_US // self.per_second)  # rounded up: never faster than the rate

    def latest_us(self, now_us: int) -> int:
        """Return how far a key may be ahead of the clock and still make one more request."""
        return now_us + (self.burst - 1) * self.step_us

    def is_honest(self, free_at_us: int, now_us: int) -> bool:
        """Whether clocks that are right could have led there."""
        return free_at_us <= now_us + self.burst * self.step_us + _SKEW_US


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The stored use of a key."""

    free_at_us: int
    day: str
    requests: int
    """The number of requests on that day."""


@dataclass(frozen=True, slots=True)
class Admitted:
    use: Use
    """The key's use, including this request."""


@dataclass(frozen=True, slots=True)
class TooFast:
    wait_us: int


@dataclass(frozen=True, slots=True)
class DayUsedUp:
    resets_at_ms: int


Admission = Admitted | TooFast | DayUsedUp


def judge(seen: Use | None, *, now_ms: int, limits: RequestLimits) -> Admission:
    """Judge a request. A day that another clock has begun already counts as begun.

    A clock that was far ahead does not block a key: it uses up the burst but for this request.
    """
    now_us, today = now_ms * 1000, day_of(now_ms)
    use = seen or Use(free_at_us=now_us, day=today, requests=0)
    if use.day < today:
        use = replace(use, day=today, requests=0)
    if not limits.is_honest(use.free_at_us, now_us):
        use = replace(use, free_at_us=limits.latest_us(now_us))
    if use.requests >= limits.per_day:
        return DayUsedUp(end_of_day_ms(use.day))
    wait_us = use.free_at_us - limits.latest_us(now_us)
    if wait_us > 0:
        return TooFast(wait_us)
    free_at_us = max(use.free_at_us, now_us) + limits.step_us
    return Admitted(replace(use, free_at_us=free_at_us, requests=use.requests + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The limits that a definition, one of its steps or a redrive asks for; `None`: unspecified."""

    model: str | None = None
    tools: Sequence[str] = ()
    max_turns: int | None = None
    timeout_ms: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    default_cost_usd: float = 5.0
    """The most that an attempt may spend if its definition does not say, in dollars."""
    max_cost_usd: float = 10_000.0
    max_tokens: int | None = None
    """How many tokens an attempt may use at most, read, written and cached; `None`: any number."""
    default_turns: int = 10
    max_turns: int = 200
    default_timeout_ms: int = 300_000
    max_timeout_ms: int = 12 * 60 * 60 * 1000
    models: tuple[str, ...] | None = None
    """The models that tenants may name; `None`: any."""
    tools: tuple[str, ...] | None = None
    """The tools that tenants may grant to agents; `None`: any."""
    max_open_tasks: int = 100_000
    """The most tasks that one tenant's unsettled jobs may have together."""

    def __post_init__(self) -> None:
        for default, most, field in (
            (self.default_cost_usd, self.max_cost_usd, "maxCostUsd"),
            (self.default_turns, self.max_turns, "maxTurns"),
            (self.default_timeout_ms, self.max_timeout_ms, "timeout"),
        ):
            if not 0 < default <= most:
                raise ValueError(f"the default of {field} must be above 0 and at most {most:,}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("maxTokens must be 1 or more")
        if self.max_open_tasks < 1:
            raise ValueError("maxOpenTasks must be 1 or more")

    def cost_usd(self, asked: float | None) -> float:
        return min(self.default_cost_usd if asked is None else asked, self.max_cost_usd)

    def tokens(self, asked: int | None) -> int | None:
        """Return the smaller of both budgets; `None` if there is none."""
        return min((one for one in (asked, self.max_tokens) if one is not None), default=None)

    def turns(self, asked: int | None) -> int:
        return min(self.default_turns if asked is None else asked, self.max_turns)

    def timeout_ms(self, asked: int | None) -> int:
        return min(self.default_timeout_ms if asked is None else asked, self.max_timeout_ms)

    def problems_with(self, asked: Asked, *, at: tuple[str | int, ...] = ()) -> list[Problem]:
        """Name each field that asks for more than the stage allows, and what it allows."""
        return [
            *_above(asked.max_cost_usd, self.max_cost_usd, (*at, "maxCostUsd")),
            *_above(asked.max_tokens, self.max_tokens or inf, (*at, "maxTokens")),
            *_above(asked.max_turns, self.max_turns, (*at, "maxTurns")),
            *_above(asked.timeout_ms, self.max_timeout_ms, (*at, "timeout")),
            *_not_among([asked.model] if asked.model else [], self.models, (*at, "model")),
            *_not_among([_tool(name) for name in asked.tools], self.tools, (*at, "tools")),
        ]


WIDEST_CEILINGS: Final = Ceilings()
"""The ceilings of a stage that names none: what the contracts allow, and a default for money."""


def _tool(name: str) -> str:
    """A tool may be granted in part: `Bash(git log:*)` is `Bash`."""
    return name.partition("(")[0].strip()


def _above(asked: float | None, most: float, path: tuple[str | int, ...]) -> list[Problem]:
    if asked is None or asked <= most:
        return []
    return [Problem(path, f"is {asked:,}; this stage allows at most {most:,}")]


def _not_among(
    asked: Sequence[str], allowed: tuple[str, ...] | None, path: tuple[str | int, ...]
) -> list[Problem]:
    refused = [name for name in dict.fromkeys(asked) if allowed is not None and name not in allowed]
    listed = ", ".join(allowed or ()) or "none"
    return [
        Problem(path, f"{name!r} is not allowed in this stage; allowed: {listed}")
        for name in refused
    ]


BEING_SUBMITTED_MS: Final = 15 * 60_000
"""The time for which a job counts that is not stored yet: a submission takes at most 30 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenJob:
    """A job as it is counted."""

    ref: JobRef
    run: int
    tasks: int
    since_ms: int


def open_with(counted: Iterable[OpenJob], ref: JobRef, tasks: int) -> int:
    """Return how many tasks are open if the job has so many, whatever it is counted with."""
    return tasks + sum(job.tasks for job in counted if job.ref != ref)


def room_problems(total: int, *, most: int) -> list[Problem]:
    if total <= most:
        return []
    message = (
        f"would make {total:,} open tasks; this stage allows at most {most:,} per tenant: wait"
        " until jobs have settled, or cancel some"
    )
    return [Problem(("tasks",), message)]


def is_left_over(counted: OpenJob, job: Job | None, *, now_ms: int) -> bool:
    """Whether a job is counted though nothing of it is open: something ended on the way."""
    if job is None:
        return now_ms - counted.since_ms > BEING_SUBMITTED_MS
    if job.state is JobState.WRITING:
        return job.due_at_ms is None  # it was abandoned
    return job.state.settled and counted.run <= job.run
