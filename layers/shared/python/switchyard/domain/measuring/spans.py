"""The trace of a job (W3C trace context) and its spans: one for each run, one for each attempt.

Ids are derived from what the spans are of: a span that is exported twice has the same id.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Self

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import FIRST_RUN
from switchyard.domain.tasks.task import Task, Usage

TRACEPARENT: Final = "traceparent"
"""The name of the header in the standard."""

SAMPLED: Final = "01"
_TRACEPARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_TRACE_ID_DIGITS: Final = 32
_SPAN_ID_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class TraceParent:
    """A span, seen by what happens below it."""

    trace_id: str
    span_id: str
    flags: str = SAMPLED

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """Parse a `traceparent` of version 00; the standard has any other ignored: `None`."""
        found = _TRACEPARENT.fullmatch(text or "")
        if found is None or not (_says_something(found[1]) and _says_something(found[2])):
            return None
        return cls(*found.groups())

    def __str__(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The one that all spans of a job are in."""

    trace_id: str
    flags: str = SAMPLED
    caller_span_id: str | None = None
    """The span of the job's caller, if the request named one."""

    def below(self, span_id: str) -> str:
        """A `traceparent` for whatever happens within that span."""
        return str(TraceParent(self.trace_id, span_id, self.flags))


def trace_of(traced: Job | Task) -> Trace:
    ref = traced.ref if isinstance(traced, Job) else traced.ref.job
    return trace_given(ref, traced.trace)


def trace_given(ref: JobRef, traceparent: str | None) -> Trace:
    """The caller's trace, or else the job's own, which needs no storage."""
    given = TraceParent.parse(traceparent)
    if given is None:
        return Trace(trace_id=_digest(_TRACE_ID_DIGITS, ref.tenant, ref.job_id))
    return Trace(trace_id=given.trace_id, flags=given.flags, caller_span_id=given.span_id)


def waking_context(task: Task) -> str:
    """The `traceparent` of a message that wakes a worker."""
    trace, ref = trace_of(task), task.ref
    caller = trace.caller_span_id if ref.bare else None
    return trace.below(caller or job_span_id(ref.job))


def attempt_context(task: Task) -> str:
    """The `traceparent` of what runs the attempt that `task` was claimed for."""
    span_id = attempt_span_id(task.ref, run=task.run, started_at_ms=task.started_at_ms or 0)
    return trace_of(task).below(span_id)


def job_span_id(ref: JobRef, *, run: int = FIRST_RUN) -> str:
    """The first run's is what all others and all attempts are below: a task knows its own runs,
    not those of its job."""
    return _digest(_SPAN_ID_DIGITS, ref.tenant, ref.job_id, f"run {run}")


def attempt_span_id(ref: TaskRef, *, run: int, started_at_ms: int) -> str:
    """Derive the span of an attempt from its claim: giving up a task raises its fence."""
    return _digest(
        _SPAN_ID_DIGITS, ref.tenant, ref.request_id, f"run {run}", f"started {started_at_ms}"
    )


def known_trace(trace_id: object, caller_span_id: object = None) -> Trace | None:
    """Read the trace that an event names, whichever app sent it; `None` if it names none."""
    known = _id(trace_id, _TRACE_ID_DIGITS)
    if known is None:
        return None
    return Trace(trace_id=known, caller_span_id=_id(caller_span_id, _SPAN_ID_DIGITS))


def _id(given: object, digits: int) -> str | None:
    if not isinstance(given, str) or not re.fullmatch(f"[0-9a-f]{{{digits}}}", given):
        return None
    return given if _says_something(given) else None


def _digest(digits: int, *parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:digits]


def _says_something(digits: str) -> bool:
    return digits.strip("0") != ""


Attributes = Mapping[str, str | int | float]


class SpanStatus(IntEnum):
    """The statuses of spans, as OpenTelemetry numbers them."""

    UNSET = 0
    OK = 1
    ERROR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    outcome: str
    status: SpanStatus = SpanStatus.UNSET
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasted:
    """A start and an end in milliseconds; clocks of two machines may disagree."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    lasted: Lasted
    ending: Ending
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    ref: TaskRef
    run: int
    definition: str
    number: int | None = None
    worker_id: str | None = None
    usage: Usage = field(default_factory=Usage)


def job_span(
    ref: JobRef, *, run: int, total_tasks: int, trace: Trace, lasted: Lasted, ending: Ending
) -> Span:
    """The first run's stands below who submitted the job; later ones stand below the first."""
    first = run == FIRST_RUN
    return Span(
        trace_id=trace.trace_id,
        span_id=job_span_id(ref, run=run),
        parent_span_id=trace.caller_span_id if first else job_span_id(ref),
        name="job",
        lasted=_in_order(lasted),
        ending=ending,
        attributes={
            "switchyard.tenant": ref.tenant,
            "switchyard.job_id": ref.job_id,
            "switchyard.run": run,
            "switchyard.total_tasks": total_tasks,
            "switchyard.outcome": ending.outcome,
        },
    )


def attempt_span(attempt: Attempt, *, trace: Trace, lasted: Lasted, ending: Ending) -> Span:
    """Return the span of an attempt, below its job's; a bare task's is below its sender's."""
    ref = attempt.ref
    return Span(
        trace_id=trace.trace_id,
        span_id=attempt_span_id(ref, run=attempt.run, started_at_ms=lasted.start_ms),
        parent_span_id=trace.caller_span_id if ref.bare else job_span_id(ref.job),
        name=f"task {attempt.definition}",
        lasted=_in_order(lasted),
        ending=ending,
        attributes={
            "switchyard.tenant": ref.tenant,
            **({} if ref.bare else {"switchyard.job_id": ref.job_id}),
            "switchyard.request_id": ref.request_id,
            "switchyard.definition": attempt.definition,
            "switchyard.run": attempt.run,
            **({} if attempt.number is None else {"switchyard.attempt": attempt.number}),
            **({"switchyard.worker_id": attempt.worker_id} if attempt.worker_id else {}),
            "switchyard.outcome": ending.outcome,
            **_spent(attempt.usage),
        },
    )


def _in_order(lasted: Lasted) -> Lasted:
    return Lasted(start_ms=lasted.start_ms, end_ms=max(lasted.start_ms, lasted.end_ms))


def _spent(usage: Usage) -> Attributes:
    if usage == Usage():
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "switchyard.cache_read_tokens": usage.cache_read_tokens,
        "switchyard.cost_usd": usage.cost_usd,
    }
