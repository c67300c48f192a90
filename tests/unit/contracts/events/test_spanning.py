"""Which spans end with which events, and what they say."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import CATALOGUE, ArrivedEvent
from switchyard.contracts.events.spans import spanned
from switchyard.domain.ids import bare_task
from switchyard.domain.measuring.spans import (
    Ending,
    Lasted,
    Span,
    SpanStatus,
    attempt_span_id,
    job_span_id,
    trace_of,
)
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task, Usage
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Fact
from tests.builders import JOB, NOW_MS, TENANT, TRACEPARENT, a_task, an_emitter

CALLER = TRACEPARENT.split("-")[2]
ENDED_MS = NOW_MS + 1_500
TASK = a_task(
    "a", owner="worker-1/7", attempt=2, run=3, fence=9, started_at_ms=NOW_MS, settled_at_ms=ENDED_MS
)
USAGE = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=3, cost_usd=0.0125)


def arrived(fact: Fact) -> ArrivedEvent:
    harness = MemoryHarness(ManualClock())
    an_emitter(harness.bus).emit(fact)
    return ArrivedEvent.model_validate(harness.bus.events[0].detail())


def settled(task: Task = TASK, *, state: TaskState = TaskState.COMPLETED, **facts: Any) -> Span:
    outcome = Outcome(state=state, **facts)
    span = spanned(
        arrived(task_events.settled(replace(task, state=state, outcome=outcome), output={}))
    )
    assert span is not None
    return span


def test_a_completed_attempt_is_a_span_below_its_job() -> None:
    assert settled(usage=USAGE) == Span(
        trace_id=trace_of(TASK).trace_id,
        span_id=attempt_span_id(TASK.ref, run=3, started_at_ms=NOW_MS),
        parent_span_id=job_span_id(JOB),
        name="task scrape",
        lasted=Lasted(start_ms=NOW_MS, end_ms=ENDED_MS),
        ending=Ending(outcome="completed", status=SpanStatus.OK),
        attributes={
            "switchyard.tenant": TENANT,
            "switchyard.job_id": JOB.job_id,
            "switchyard.request_id": TASK.ref.request_id,
            "switchyard.definition": "scrape",
            "switchyard.run": 3,
            "switchyard.attempt": 2,
            "switchyard.worker_id": "worker-1",
            "switchyard.outcome": "completed",
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "switchyard.cache_read_tokens": 3,
            "switchyard.cost_usd": 0.0125,
        },
    )


@pytest.mark.parametrize(
    ("state", "facts", "ending"),
    [
        (
            TaskState.FAILED,
            {"error": "boom"},
            Ending(outcome="failed", status=SpanStatus.ERROR, message="boom"),
        ),
        (
            TaskState.TIMED_OUT,
            {"timeout_ms": 1_000},
            Ending(outcome="timed_out", status=SpanStatus.ERROR, message="timed out after 1000 ms"),
        ),
        (TaskState.CANCELLED, {"error": "asked"}, Ending(outcome="cancelled", message="asked")),
    ],
)
def test_an_attempt_ends_as_its_task_does(
    state: TaskState, facts: dict[str, Any], ending: Ending
) -> None:
    assert settled(state=state, **facts).ending == ending


def test_the_attempt_of_a_dead_worker_has_the_span_that_its_child_was_given() -> None:
    """The process that gives it up raises its fence."""
    given_up = replace(TASK, fence=TASK.fence + 1)

    span = settled(given_up, state=TaskState.FAILED, error_category="exhausted")

    assert span.span_id == attempt_span_id(TASK.ref, run=3, started_at_ms=NOW_MS)


def test_a_failed_attempt_and_a_released_one_are_spans_too() -> None:
    queued = replace(TASK, owner=None, attempt=1)
    failure = Outcome(state=TaskState.FAILED, error="boom", usage=USAGE)

    failed = spanned(
        arrived(task_events.attempt_failed(queued, failure, attempt=1, at_ms=ENDED_MS))
    )
    released = spanned(arrived(task_events.released(queued, reason="stopping", at_ms=ENDED_MS)))

    assert failed
    assert released
    assert failed.ending == Ending(outcome="failed", status=SpanStatus.ERROR, message="boom")
    assert released.ending == Ending(outcome="released", message="stopping")
    numbers = [span.attributes["switchyard.attempt"] for span in (failed, released)]
    assert numbers == [1, 2]
    assert released.lasted == Lasted(start_ms=NOW_MS, end_ms=ENDED_MS)


def test_what_was_cancelled_between_two_attempts_is_no_span() -> None:
    waiting = replace(TASK, owner=None, state=TaskState.CANCELLED)

    assert spanned(arrived(task_events.settled(waiting, output=None))) is None


def test_a_bare_task_is_below_who_sent_it_or_stands_alone() -> None:
    bare = replace(TASK, ref=bare_task(TENANT, "order-1"))

    assert settled(bare).parent_span_id is None
    assert settled(replace(bare, trace=TRACEPARENT)).parent_span_id == CALLER
    assert "switchyard.job_id" not in settled(bare).attributes


def test_a_span_does_not_end_before_it_began() -> None:
    early = settled(replace(TASK, settled_at_ms=NOW_MS - 5))

    assert early.lasted == Lasted(start_ms=NOW_MS, end_ms=NOW_MS)


def emitted(event_type: str, **properties: Any) -> ArrivedEvent:
    """Return an event of a sender that is older or newer than this version."""
    event = arrived(task_events.settled(replace(TASK, state=TaskState.COMPLETED), output=None))
    return event.model_copy(update={"event_type": event_type, "properties": properties})


@pytest.mark.parametrize(
    "nonsense",
    [
        {"run": 1},
        {"run": 0, "startedAt": NOW_MS},
        {"run": 1, "startedAt": -1},
        {"run": 1, "startedAt": 10**15},
        {"run": 1, "startedAt": "soon"},
        {"run": 1, "startedAt": NOW_MS, "name": "#/../"},
        {"run": 1, "startedAt": NOW_MS, "usage": {"costUsd": float("nan")}},
    ],
)
def test_what_says_too_little_or_nonsense_is_no_span(nonsense: dict[str, Any]) -> None:
    assert spanned(emitted("Task Completed", **nonsense)) is None


def test_a_newer_event_may_say_more() -> None:
    assert spanned(emitted("Task Completed", run=1, startedAt=NOW_MS, mood="good")) is not None


@pytest.mark.parametrize("context", [None, "x", {}, {"traceId": "x"}])
def test_an_event_without_a_trace_is_no_span(context: Any) -> None:
    event = emitted("Task Completed", run=1, startedAt=NOW_MS)
    record = event.record() | {"context": context}

    assert spanned(ArrivedEvent.model_validate(record)) is None


def test_nothing_else_ends_a_span() -> None:
    said = {"run": 1, "startedAt": NOW_MS, "totalTasks": 1}
    ending = {name for name in CATALOGUE if spanned(emitted(name, **said)) is not None}

    assert ending == {
        "Task Completed",
        "Task Failed",
        "Task Timeout",
        "Task Cancelled",
        "Task Processing Failed",
        "Task Released",
    }  # a job's events, of a task, are nobody's
