"""A trace goes with a job, wherever it comes."""

from typing import Any

import pytest

from switchyard.contracts.events import ArrivedEvent
from switchyard.contracts.events.spans import spanned
from switchyard.domain.ids import JobRef
from switchyard.domain.measuring.spans import (
    Lasted,
    TraceParent,
    job_span_id,
    trace_of,
    waking_context,
)
from switchyard.domain.states import JobState
from switchyard.usecases.jobs import submit_job
from switchyard.usecases.jobs.read_jobs import read_job
from tests.builders import TENANT, TRACEPARENT, a_submission
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.growing_harness import AddingHarness
from tests.fakes.harnesses.job_harness import FAILED, Harness, OneJobId
from tests.fakes.harnesses.submitting import a_submitter, an_expander
from tests.fakes.harnesses.swept_harness import CHAIN, SweptHarness

TRACE_ID, CALLER = TRACEPARENT.split("-")[1:3]
ANOTHER = TRACEPARENT.replace("4bf9", "aaaa")


@pytest.fixture
def harness() -> ChangedHarness:
    harness = ChangedHarness()
    harness.traceparent = TRACEPARENT
    return harness


def traceparents(harness: Harness) -> list[str | None]:
    received = harness.memory.queue.receive(at_most=99, wait_seconds=0, visibility_seconds=9999)
    return [message.attributes["traceparent"].string_value for message in received]


def contexts(harness: Harness) -> set[tuple[str | None, str | None]]:
    said = [event.context for event in harness.memory.bus.events]
    return {(context.trace_id, context.parent_span_id) for context in said}


def run_spans(harness: Harness) -> list[Any]:
    ended = [
        e for e in harness.memory.bus.events if e.event_type in ("Job Failed", "Job Completed")
    ]
    return [spanned(ArrivedEvent.model_validate(event.detail())) for event in ended]


def test_a_job_is_in_the_trace_of_its_caller(harness: ChangedHarness) -> None:
    harness.start(CHAIN)
    for task_id in CHAIN:
        harness.settle(task_id)
        harness.deliver()

    assert harness.job_state() is JobState.COMPLETED
    assert contexts(harness) == {(TRACE_ID, CALLER)}
    assert read_job(TENANT, harness.job.job_id, jobs=harness.memory.jobs).trace_id == TRACE_ID
    [span] = run_spans(harness)
    assert (span.trace_id, span.span_id) == (TRACE_ID, job_span_id(harness.job))
    assert span.parent_span_id == CALLER


def test_without_a_caller_nothing_is_stored_and_everything_names_the_same_trace() -> None:
    harness = Harness()
    job = harness.start(CHAIN)
    trace_id = trace_of(harness.memory.state.jobs[job]).trace_id

    assert contexts(harness) == {(trace_id, None)}
    assert {task.trace for task in harness.memory.state.tasks.values()} == {None}
    assert [TraceParent.parse(sent) for sent in traceparents(harness)] == [
        TraceParent(trace_id, job_span_id(job))
    ]


def test_what_is_redriven_stays_in_its_trace_and_its_run_is_a_span_below_the_first(
    harness: ChangedHarness,
) -> None:
    harness.start(CHAIN)
    harness.settle("a", FAILED)
    harness.deliver()
    harness.clock.advance(60)
    harness.redrive()
    harness.deliver()
    reopened_ms = harness.clock.now_ms()
    harness.clock.advance(5)
    for task_id in CHAIN:
        harness.settle(task_id)
        harness.deliver()

    assert contexts(harness) == {(TRACE_ID, CALLER)}
    first, second = run_spans(harness)
    assert second.span_id == job_span_id(harness.job, run=2)
    assert second.parent_span_id == first.span_id
    assert second.lasted == Lasted(start_ms=reopened_ms, end_ms=harness.clock.now_ms())


def test_tasks_that_are_added_are_in_the_trace_of_their_job() -> None:
    harness = AddingHarness()
    harness.traceparent = TRACEPARENT
    harness.start({"a": []})

    harness.add({"late": ["a"]})

    assert harness.task("late").trace == TRACEPARENT
    assert contexts(harness) == {(TRACE_ID, CALLER)}


def test_a_large_job_is_written_with_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_job, "MAX_INLINE_TASKS", 0)
    harness = Harness()
    harness.traceparent = TRACEPARENT
    ref = JobRef(TENANT, harness.submit(a_submission(CHAIN)).job_id)
    job = harness.memory.state.jobs[ref]

    assert an_expander(harness.memory, clock=harness.clock).go_on(job, until=harness.until)

    tasks = harness.memory.jobs.picture(ref).visible_tasks
    assert {job.trace, *(task.trace for task in tasks)} == {TRACEPARENT}
    assert contexts(harness) == {(TRACE_ID, CALLER)}


def test_of_two_tries_under_one_key_the_first_ones_trace_counts() -> None:
    harness = Harness()
    submitter = a_submitter(harness.memory, clock=harness.clock, ids=OneJobId())

    answers = [
        submitter.submit(TENANT, a_submission(), key="mine", traceparent=traceparent)
        for traceparent in (TRACEPARENT, ANOTHER, None)
    ]

    assert [answer.trace_id for answer in answers] == [TRACE_ID] * 3
    [job] = harness.memory.state.jobs.values()
    assert job.trace == TRACEPARENT


def test_nonsense_is_as_good_as_no_header() -> None:
    harness = Harness()
    harness.traceparent = "00-nonsense"

    accepted = harness.submit(a_submission(CHAIN))

    job = harness.memory.state.jobs[JobRef(TENANT, accepted.job_id)]
    assert job.trace is None
    assert accepted.trace_id == trace_of(job).trace_id


def test_the_dispatcher_and_the_sweeper_send_it_with_their_messages() -> None:
    harness = SweptHarness()
    harness.traceparent = TRACEPARENT
    harness.start(CHAIN)
    first = traceparents(harness)

    harness.sweep(after=600)

    assert first == traceparents(harness) == [waking_context(harness.task("a"))]
