"""What a trace shows of a job: a span for each of its runs, and one for each attempt at a task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.plan import FIRST_RUN
from switchyard.domain.measuring.tracing import Trace, attempt_span_id, job_span_id
from switchyard.domain.tasks.task import Usage

Attributes = Mapping[str, str | int | float]


class SpanStatus(IntEnum):
    """As OpenTelemetry numbers them."""

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
    """From when to when, in milliseconds; clocks of two machines may disagree."""

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
    """Below its job; a bare task's below who sent it."""
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
