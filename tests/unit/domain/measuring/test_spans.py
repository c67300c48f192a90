"""Which trace a job is in, and what its spans are called."""

from dataclasses import replace

import pytest

from switchyard.domain.ids import JobRef, bare_task
from switchyard.domain.measuring.spans import (
    Trace,
    TraceParent,
    attempt_context,
    attempt_span_id,
    job_span_id,
    known_trace,
    trace_given,
    trace_of,
    waking_context,
)
from tests.builders import JOB, NOW_MS, TENANT, TRACEPARENT, a_plan, a_task

TRACE_ID, SPAN_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TASK = a_task("a", started_at_ms=NOW_MS)
BARE = replace(TASK, ref=bare_task(TENANT, "order-1"))


@pytest.mark.parametrize("flags", ["00", "01", "ff"])
def test_a_traceparent_is_read_and_written_as_it_was(flags: str) -> None:
    text = f"00-{TRACE_ID}-{SPAN_ID}-{flags}"

    assert TraceParent.parse(text) == TraceParent(TRACE_ID, SPAN_ID, flags)
    assert str(TraceParent.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        TRACE_ID,
        f"01-{TRACE_ID}-{SPAN_ID}-01",
        f"ff-{TRACE_ID}-{SPAN_ID}-01",
        f"00-{'0' * 32}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{'0' * 16}-01",
        f"00-{TRACE_ID.upper()}-{SPAN_ID}-01",
        f"00-{TRACE_ID[:-1]}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{SPAN_ID}0-01",
        f"00-{TRACE_ID}-{SPAN_ID}-1",
        f"00-{TRACE_ID}-{SPAN_ID}-01-more",
        f"00-{TRACE_ID}-{SPAN_ID}-01\n",
        f" 00-{TRACE_ID}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{SPAN_ID}-0\u0661",
    ],
)
def test_anything_else_is_ignored(text: str | None) -> None:
    assert TraceParent.parse(text) is None
    assert trace_given(JOB, text) == trace_given(JOB, None)


def test_without_a_caller_a_trace_is_known_from_its_job_alone() -> None:
    trace = trace_of(a_plan().job)

    assert trace == trace_of(TASK) == trace_given(JOB, None)
    assert (len(trace.trace_id), trace.caller_span_id) == (32, None)
    assert int(trace.trace_id, 16)
    assert trace.trace_id != trace_given(JobRef("another", JOB.job_id), None).trace_id


def test_a_caller_has_its_jobs_in_its_own_trace() -> None:
    assert trace_of(replace(TASK, trace=TRACEPARENT)) == Trace(
        trace_id=TRACE_ID, flags="01", caller_span_id=SPAN_ID
    )


def test_each_span_has_an_id_of_its_own() -> None:
    ids = {
        job_span_id(JOB),
        job_span_id(JOB, run=2),
        attempt_span_id(TASK.ref, run=1, started_at_ms=NOW_MS),
        attempt_span_id(TASK.ref, run=1, started_at_ms=NOW_MS + 1),
        attempt_span_id(TASK.ref, run=2, started_at_ms=NOW_MS),
        attempt_span_id(JOB.task("b"), run=1, started_at_ms=NOW_MS),
    }

    assert len(ids) == 6
    assert {len(span_id) for span_id in ids} == {16}
    assert job_span_id(JOB, run=1) == job_span_id(JOB)


def test_a_message_is_in_the_span_of_the_job() -> None:
    trace_id = trace_of(TASK).trace_id

    assert waking_context(TASK) == f"00-{trace_id}-{job_span_id(JOB)}-01"
    unsampled = replace(TASK, trace=f"00-{TRACE_ID}-{SPAN_ID}-00")
    assert waking_context(unsampled) == f"00-{TRACE_ID}-{job_span_id(JOB)}-00"


def test_the_message_of_a_bare_task_is_in_the_span_of_who_sent_the_task() -> None:
    assert waking_context(replace(BARE, trace=TRACEPARENT)) == TRACEPARENT
    assert TraceParent.parse(waking_context(BARE)) is not None


def test_what_runs_an_attempt_is_in_its_span() -> None:
    attempt = attempt_span_id(TASK.ref, run=1, started_at_ms=NOW_MS)

    assert attempt_context(replace(TASK, trace=TRACEPARENT)) == f"00-{TRACE_ID}-{attempt}-01"


@pytest.mark.parametrize("nonsense", [None, 7, "", "0" * 32, TRACE_ID.upper(), f"{TRACE_ID}\n", []])
def test_an_event_may_name_no_trace_that_makes_sense(nonsense: object) -> None:
    assert known_trace(nonsense) is None
    assert known_trace(TRACE_ID, nonsense) == Trace(trace_id=TRACE_ID)


def test_an_event_names_the_trace_and_perhaps_the_caller() -> None:
    assert known_trace(TRACE_ID, SPAN_ID) == Trace(trace_id=TRACE_ID, caller_span_id=SPAN_ID)
