"""Every transition of a job in every state: what it makes of the job, or why it is refused."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from switchyard.domain.jobs import transitions
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.submission_keys import given_up
from switchyard.domain.states import JobState
from switchyard.domain.tasks import due
from switchyard.domain.transition import Transition, TransitionRefused, applied, attempt, holds
from tests.builders import JOB, NOW_MS

S = JobState
EVERY = set(JobState)
KEY = "plan.json"
LATER = NOW_MS + 5


def in_state(state: JobState, **facts: Any) -> Job:
    known: dict[str, Any] = {
        "name": "brand",
        "total_tasks": 3,
        "created_at_ms": 7,
        "due_at_ms": NOW_MS,
    }
    return Job(ref=JOB, state=state, **known | facts)


@dataclass(frozen=True)
class Case:
    make: Callable[[Job], Transition]
    written_in: set[JobState]
    becomes: JobState | None
    """`None`: the state stays."""
    due_at_ms: int | None
    redrive_key: str | None = None
    """The redrive's key of the job before."""


CASES = {
    "note_written": Case(lambda _: transitions.note_written(5), {S.WRITING}, None, NOW_MS),
    "open_job": Case(
        lambda job: transitions.open_job(job, now_ms=LATER),
        {S.WRITING},
        S.OPEN,
        LATER + due.JOB_AUDIT,
    ),
    "abandon": Case(transitions.abandon, {S.WRITING}, None, None),
    "give_up_submission": Case(
        lambda job: transitions.give_up_submission(job.ref), {S.WRITING}, None, NOW_MS
    ),
    "note_failure": Case(
        lambda job: transitions.note_failure(job, task_id="t", now_ms=LATER), EVERY, None, NOW_MS
    ),
    "settle": Case(
        lambda job: transitions.settle(job, S.FAILED, now_ms=LATER), {S.OPEN}, S.FAILED, None
    ),
    "postpone": Case(lambda job: transitions.postpone(job, LATER), EVERY, None, LATER),
    "add_tasks": Case(
        lambda job: transitions.add_tasks(job, added=2, most_before=3), {S.OPEN}, None, NOW_MS
    ),
    "begin_cancel": Case(
        lambda job: transitions.begin_cancel(job, now_ms=LATER, by="ann"),
        {S.OPEN},
        S.CANCELLING,
        LATER + due.JOB_BEING_CHANGED,
    ),
    "note_cancel_progress": Case(
        lambda job: transitions.note_cancel_progress(job, "all#t"), {S.CANCELLING}, None, NOW_MS
    ),
    "end_cancel": Case(
        lambda job: transitions.end_cancel(job, now_ms=LATER, cursor="events#"),
        {S.CANCELLING},
        S.OPEN,
        LATER + due.JOB_AUDIT,
    ),
    "note_events_emitted": Case(
        lambda job: transitions.note_events_emitted(job, "events#t"),
        {S.OPEN, S.COMPLETED, S.FAILED, S.CANCELLED},
        None,
        NOW_MS,
    ),
    "begin_redrive": Case(
        lambda job: transitions.begin_redrive(job, key=KEY, now_ms=LATER),
        EVERY,
        S.REDRIVING,
        LATER + due.JOB_BEING_CHANGED,
    ),
    "note_redrive_progress": Case(
        lambda job: transitions.note_redrive_progress(job, written=5), EVERY, None, NOW_MS, KEY
    ),
    "reopen": Case(
        lambda job: transitions.reopen(job, now_ms=LATER),
        {S.REDRIVING},
        S.OPEN,
        LATER + due.JOB_BEING_CHANGED,
        KEY,
    ),
}


@pytest.mark.parametrize("state", JobState)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_transition_in_a_state(case: Case, state: JobState) -> None:
    job = in_state(state, redrive_key=case.redrive_key)
    transition = case.make(job)
    answer = attempt(job, transition)
    if state in case.written_in:
        assert isinstance(answer, Job)
        assert answer.state is (case.becomes or state)
        assert answer.due_at_ms == case.due_at_ms
    elif transition.was_written_to(job):
        assert answer is job
    else:
        assert isinstance(answer, TransitionRefused)
        assert answer.reason.startswith(f"{transition.name} needs: ")
        assert "state" in answer.reason
        assert answer.found is job


@pytest.mark.parametrize("state", JobState)
def test_a_redrive_ends_as_the_job_was_read(state: JobState) -> None:
    job = in_state(state, redrive_key=KEY)
    ended = attempt(job, transitions.end_redrive(job, now_ms=LATER))
    assert isinstance(ended, Job)
    due_at_ms = NOW_MS if state.settled else LATER + due.JOB_AUDIT
    assert (ended.redrive_key, ended.due_at_ms) == (None, due_at_ms)


CHANGED: list[tuple[str, JobState, dict[str, Any]]] = [
    ("note_written", S.WRITING, {"written": 5}),
    ("open_job", S.WRITING, {"created_at_ms": 0}),
    ("abandon", S.WRITING, {"due_at_ms": LATER}),
    ("give_up_submission", S.WRITING, {"document_key": "d.json"}),
    ("note_failure", S.OPEN, {"failure_detected_at_ms": 5}),
    ("note_failure", S.OPEN, {"run": 2}),
    ("settle", S.OPEN, {"run": 2}),
    ("postpone", S.OPEN, {"due_at_ms": LATER}),
    ("postpone", S.OPEN, {"due_at_ms": None}),
    ("add_tasks", S.OPEN, {"run": 2}),
    ("add_tasks", S.OPEN, {"cancel_requested": True}),
    ("add_tasks", S.OPEN, {"redrive_key": KEY}),
    ("add_tasks", S.OPEN, {"total_tasks": 4}),
    ("begin_cancel", S.OPEN, {"run": 2}),
    ("begin_cancel", S.OPEN, {"redrive_key": KEY}),
    ("note_cancel_progress", S.CANCELLING, {"run": 2}),
    ("end_cancel", S.CANCELLING, {"run": 2}),
    ("note_events_emitted", S.CANCELLED, {"run": 2}),
    ("begin_redrive", S.FAILED, {"run": 2}),
    ("begin_redrive", S.FAILED, {"redrive_key": "another.json"}),
    ("begin_redrive", S.FAILED, {"state": S.COMPLETED}),
    ("note_redrive_progress", S.OPEN, {"redrive_key": "another.json"}),
    ("note_redrive_progress", S.OPEN, {"written": 5}),
    ("reopen", S.REDRIVING, {"redrive_key": "another.json"}),
]


@pytest.mark.parametrize(("name", "state", "change"), CHANGED)
def test_what_changed_since_it_was_read_is_left_alone(
    name: str, state: JobState, change: dict[str, Any]
) -> None:
    case = CASES[name]
    job = in_state(state, redrive_key=case.redrive_key)
    answer = attempt(replace(job, **change), case.make(job))
    assert isinstance(answer, TransitionRefused)
    assert next(iter(change)) in answer.reason


def test_the_next_run_begins_without_what_was_said_of_the_last() -> None:
    before = in_state(
        S.REDRIVING,
        redrive_key=KEY,
        failure_detected_at_ms=1,
        failed_task_id="t",
        cancel_requested=True,
        cancelled_by="ann",
        settled_at_ms=2,
    )
    assert applied(before, transitions.reopen(before, now_ms=LATER)) == in_state(
        S.OPEN,
        redrive_key=KEY,
        run=2,
        reopened_at_ms=LATER,
        due_at_ms=LATER + due.JOB_BEING_CHANGED,
    )


def test_a_submission_is_given_up_before_anything_of_it_is_stored() -> None:
    giving_up = transitions.give_up_submission(JOB)
    assert holds(giving_up.guard, None)
    left = applied(in_state(S.WRITING), giving_up)
    assert left == replace(given_up(JOB), due_at_ms=NOW_MS)


def test_a_lost_redrive_is_open_as_long_as_the_job_is_in_its_old_state() -> None:
    job = in_state(S.FAILED)
    begin = transitions.begin_redrive(job, key=KEY, now_ms=LATER)
    assert begin.may_still_happen_to(job)
    assert begin.may_still_happen_to(replace(job, run=2))
    assert not begin.may_still_happen_to(applied(job, begin))
