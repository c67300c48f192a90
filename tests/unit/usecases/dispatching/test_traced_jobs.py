"""A trace goes with a job, wherever it comes."""

from typing import Any

import pytest

from switchyard.contracts.events import ArrivedEvent
from switchyard.contracts.events.spanning import spanned
from switchyard.domain.ids import JobRef
from switchyard.domain.measuring.spans import Lasted
from switchyard.domain.measuring.tracing import TraceParent, job_span_id, trace_of, waking_context
from switchyard.domain.states import JobState
from switchyard.usecases.jobs import submit_job
from switchyard.usecases.jobs.read_jobs import read_job
from tests.builders import TENANT, TRACEPARENT, a_submission
from tests.fakes.adding import AddingYard
from tests.fakes.changed_yard import ChangedYard
from tests.fakes.submitting import a_submitter, an_expander
from tests.fakes.swept_yard import CHAIN, SweptYard
from tests.fakes.yard import FAILED, OneJobId, Yard

TRACE_ID, CALLER = TRACEPARENT.split("-")[1:3]
ANOTHER = TRACEPARENT.replace("4bf9", "aaaa")


@pytest.fixture
def yard() -> ChangedYard:
    yard = ChangedYard()
    yard.traceparent = TRACEPARENT
    return yard


def traceparents(yard: Yard) -> list[str | None]:
    received = yard.memory.queue.receive(at_most=99, wait_seconds=0, visibility_seconds=9999)
    return [message.attributes["traceparent"].string_value for message in received]


def contexts(yard: Yard) -> set[tuple[str | None, str | None]]:
    said = [event.context for event in yard.memory.bus.events]
    return {(context.trace_id, context.parent_span_id) for context in said}


def run_spans(yard: Yard) -> list[Any]:
    ended = [e for e in yard.memory.bus.events if e.event_type in ("Job Failed", "Job Completed")]
    return [spanned(ArrivedEvent.model_validate(event.detail())) for event in ended]


def test_a_job_is_in_the_trace_of_its_caller(yard: ChangedYard) -> None:
    yard.start(CHAIN)
    for task_id in CHAIN:
        yard.settle(task_id)
        yard.deliver()

    assert yard.job_state() is JobState.COMPLETED
    assert contexts(yard) == {(TRACE_ID, CALLER)}
    assert read_job(TENANT, yard.job.job_id, jobs=yard.memory.jobs).trace_id == TRACE_ID
    [span] = run_spans(yard)
    assert (span.trace_id, span.span_id) == (TRACE_ID, job_span_id(yard.job))
    assert span.parent_span_id == CALLER


def test_without_a_caller_nothing_is_stored_and_everything_names_the_same_trace() -> None:
    yard = Yard()
    job = yard.start(CHAIN)
    trace_id = trace_of(yard.memory.state.jobs[job]).trace_id

    assert contexts(yard) == {(trace_id, None)}
    assert {task.trace for task in yard.memory.state.tasks.values()} == {None}
    assert [TraceParent.parse(sent) for sent in traceparents(yard)] == [
        TraceParent(trace_id, job_span_id(job))
    ]


def test_what_is_redriven_stays_in_its_trace_and_its_run_is_a_span_below_the_first(
    yard: ChangedYard,
) -> None:
    yard.start(CHAIN)
    yard.settle("a", FAILED)
    yard.deliver()
    yard.clock.advance(60)
    yard.redrive()
    yard.deliver()
    reopened_ms = yard.clock.now_ms()
    yard.clock.advance(5)
    for task_id in CHAIN:
        yard.settle(task_id)
        yard.deliver()

    assert contexts(yard) == {(TRACE_ID, CALLER)}
    first, second = run_spans(yard)
    assert second.span_id == job_span_id(yard.job, run=2)
    assert second.parent_span_id == first.span_id
    assert second.lasted == Lasted(start_ms=reopened_ms, end_ms=yard.clock.now_ms())


def test_tasks_that_are_added_are_in_the_trace_of_their_job() -> None:
    yard = AddingYard()
    yard.traceparent = TRACEPARENT
    yard.start({"a": []})

    yard.add({"late": ["a"]})

    assert yard.task("late").trace == TRACEPARENT
    assert contexts(yard) == {(TRACE_ID, CALLER)}


def test_a_large_job_is_written_with_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_job, "MAX_INLINE_TASKS", 0)
    yard = Yard()
    yard.traceparent = TRACEPARENT
    ref = JobRef(TENANT, yard.submit(a_submission(CHAIN)).job_id)
    job = yard.memory.state.jobs[ref]

    assert an_expander(yard.memory, clock=yard.clock).go_on(job, until=yard.until)

    tasks = yard.memory.jobs.picture(ref).visible_tasks
    assert {job.trace, *(task.trace for task in tasks)} == {TRACEPARENT}
    assert contexts(yard) == {(TRACE_ID, CALLER)}


def test_of_two_tries_under_one_key_the_first_ones_trace_counts() -> None:
    yard = Yard()
    submitter = a_submitter(yard.memory, clock=yard.clock, ids=OneJobId())

    answers = [
        submitter.submit(TENANT, a_submission(), key="mine", traceparent=traceparent)
        for traceparent in (TRACEPARENT, ANOTHER, None)
    ]

    assert [answer.trace_id for answer in answers] == [TRACE_ID] * 3
    [job] = yard.memory.state.jobs.values()
    assert job.trace == TRACEPARENT


def test_nonsense_is_as_good_as_no_header() -> None:
    yard = Yard()
    yard.traceparent = "00-nonsense"

    accepted = yard.submit(a_submission(CHAIN))

    job = yard.memory.state.jobs[JobRef(TENANT, accepted.job_id)]
    assert job.trace is None
    assert accepted.trace_id == trace_of(job).trace_id


def test_the_dispatcher_and_the_sweeper_send_it_with_their_messages() -> None:
    yard = SweptYard()
    yard.traceparent = TRACEPARENT
    yard.start(CHAIN)
    first = traceparents(yard)

    yard.sweep(after=600)

    assert first == traceparents(yard) == [waking_context(yard.task("a"))]
