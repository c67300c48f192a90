"""The span that ends with an event, if one does."""

from collections.abc import Callable, Mapping
from typing import Annotated, Final

from pydantic import Field

from switchyard.contracts.events.counts import LAST_MS, Count, CountedFields, CountedUsage
from switchyard.contracts.events.envelope import ArrivedEvent
from switchyard.contracts.events.jobs import JobCancelled, JobCompleted, JobFailed
from switchyard.contracts.events.tasks import (
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskProcessingFailed,
    TaskReleased,
    TaskTimeout,
)
from switchyard.domain.ids import DEFINITION_NAME, JOB_ID, TENANT_ID, JobRef, task_named
from switchyard.domain.measuring.counts import UNKNOWN
from switchyard.domain.measuring.spans import (
    Attempt,
    Ending,
    Lasted,
    Span,
    SpanStatus,
    Trace,
    attempt_span,
    job_span,
)
from switchyard.domain.tasks.task import Usage

_Moment = Annotated[int, Field(ge=0, le=LAST_MS)]


class _Ended(CountedFields):
    run: int = Field(ge=1)
    started_at: _Moment
    """The start. An event without it is older than spans, or ended none."""


class _JobRun(_Ended):
    total_tasks: Count


class _Attempt(_Ended):
    name: Annotated[str, Field(pattern=f"^{DEFINITION_NAME.pattern}$")] = UNKNOWN
    attempt: Count | None = None
    worker_id: str | None = None
    error: str = ""
    reason: str = ""
    timeout_ms: Count = 0
    usage: CountedUsage = CountedUsage()


_JOB_ENDINGS: Final[Mapping[str, Ending]] = {
    JobCompleted.event_type: Ending(outcome="completed", status=SpanStatus.OK),
    JobFailed.event_type: Ending(outcome="failed", status=SpanStatus.ERROR),
    JobCancelled.event_type: Ending(outcome="cancelled"),
}


def _failed(said: _Attempt) -> Ending:
    return Ending(outcome="failed", status=SpanStatus.ERROR, message=said.error)


def _timed_out(said: _Attempt) -> Ending:
    message = f"timed out after {said.timeout_ms} ms"
    return Ending(outcome="timed_out", status=SpanStatus.ERROR, message=message)


_ATTEMPT_ENDINGS: Final[Mapping[str, Callable[[_Attempt], Ending]]] = {
    TaskCompleted.event_type: lambda _: Ending(outcome="completed", status=SpanStatus.OK),
    TaskFailed.event_type: _failed,
    TaskProcessingFailed.event_type: _failed,
    TaskTimeout.event_type: _timed_out,
    TaskReleased.event_type: lambda said: Ending(outcome="released", message=said.reason),
    TaskCancelled.event_type: lambda said: Ending(outcome="cancelled", message=said.reason),
}


def spanned(event: ArrivedEvent) -> Span | None:
    """Return the span that the event ended; `None` if it ended none, or says too little of it."""
    trace = event.trace
    if trace is None or not 0 <= event.timestamp <= LAST_MS:
        return None
    try:
        if event.event_type in _JOB_ENDINGS:
            return _of_job(event, _JobRun.model_validate(event.properties), trace)
        if event.event_type in _ATTEMPT_ENDINGS:
            return _of_attempt(event, _Attempt.model_validate(event.properties), trace)
    except ValueError:  # a newer sender's, or malformed
        return None
    return None


def _of_job(event: ArrivedEvent, said: _JobRun, trace: Trace) -> Span:
    if not (TENANT_ID.fullmatch(event.tenant_id) and JOB_ID.fullmatch(event.entity_id)):
        raise ValueError(f"{event.entity_id!r} is not a job")
    return job_span(
        JobRef(event.tenant_id, event.entity_id),
        run=said.run,
        total_tasks=said.total_tasks,
        trace=trace,
        lasted=Lasted(start_ms=said.started_at, end_ms=event.timestamp),
        ending=_JOB_ENDINGS[event.event_type],
    )


def _of_attempt(event: ArrivedEvent, said: _Attempt, trace: Trace) -> Span:
    attempt = Attempt(
        ref=task_named(event.tenant_id, event.entity_id),
        run=said.run,
        definition=said.name,
        number=said.attempt,
        worker_id=said.worker_id or event.sender,
        usage=Usage(**said.usage.model_dump()),
    )
    return attempt_span(
        attempt,
        trace=trace,
        lasted=Lasted(start_ms=said.started_at, end_ms=event.timestamp),
        ending=_ATTEMPT_ENDINGS[event.event_type](said),
    )
