"""What everybody promises who cancels: for jobs, and for tasks in every state."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.ids import END
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.cancelling import REASON
from switchyard.domain.tasks.task import Outcome
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend
from tests.contract.test_every_state import Case, every_case, the_task

NOBODY_RUNS_IT = {TaskState.READY, TaskState.QUEUED}
ALIKE = {
    TaskState.READY: TaskState.QUEUED,
    TaskState.QUEUED: TaskState.READY,
    TaskState.WAITING: TaskState.PROCESSING,
    TaskState.PROCESSING: TaskState.WAITING,
}
"""Of these two the same becomes."""


@every_case
def test_a_task_is_settled_flagged_or_left(backend: Backend, case: Case) -> None:
    before = case.put(backend)
    answer = backend.cancelling.cancel(before, now_ms=NOW_MS)
    assert answer == the_task(backend)
    if before.state.settled:
        assert answer == before
    elif before.state in NOBODY_RUNS_IT:
        assert answer == replace(
            before,
            state=TaskState.CANCELLED,
            fence=before.fence + 1,
            outcome=Outcome(state=TaskState.CANCELLED, error=REASON),
            settled_at_ms=NOW_MS,
            due_at_ms=NOW_MS + due.AFTER_SETTLING,
        )
    else:
        assert answer == replace(before, cancel_requested=True)


@every_case
def test_a_task_that_changed_since_it_was_read_is_left(backend: Backend, case: Case) -> None:
    before = case.put(backend)
    if before.state.settled or (before.cancel_requested and before.state not in NOBODY_RUNS_IT):
        return  # there is nothing to change
    another = ALIKE[before.state]
    for read in (replace(before, fence=before.fence - 1), replace(before, state=another)):
        assert backend.cancelling.cancel(read, now_ms=NOW_MS) is None
        assert the_task(backend) == before


def test_hidden_tasks_are_never_flagged(backend: Backend) -> None:
    backend.intake.write(a_plan())
    end = backend.graph.find(JOB.task(END))
    assert end is not None
    assert backend.cancelling.cancel(end, now_ms=NOW_MS) == end
    assert backend.graph.find(end.ref) == end


def a_job(backend: Backend, **facts: Any) -> Job:
    plan = a_plan()
    backend.intake.write(replace(plan, job=replace(plan.job, state=JobState.OPEN, **facts)))
    return the_job(backend)


def the_job(backend: Backend) -> Job:
    job = backend.jobs.find(JOB)
    assert job is not None
    return job


def test_an_open_job_is_cancelled_and_then_open_again(backend: Backend) -> None:
    job = a_job(backend)
    begun = backend.cancelling.begin(job, now_ms=NOW_MS)
    assert begun == the_job(backend)
    assert begun == replace(
        job,
        state=JobState.CANCELLING,
        cancel_requested=True,
        due_at_ms=NOW_MS + due.JOB_BEING_CHANGED,
    )
    assert backend.cancelling.begin(job, now_ms=NOW_MS + 3) == begun
    backend.cancelling.end(begun, now_ms=NOW_MS + 5)
    ended = replace(begun, state=JobState.OPEN, due_at_ms=NOW_MS + 5 + due.JOB_AUDIT)
    assert the_job(backend) == ended
    backend.cancelling.end(begun, now_ms=NOW_MS + 9)
    assert the_job(backend) == ended


def test_who_cancelled_is_remembered_and_not_forgotten_by_who_is_unknown(backend: Backend) -> None:
    job = a_job(backend)
    begun = backend.cancelling.begin(job, now_ms=NOW_MS, by="ada")
    assert begun is not None
    assert backend.cancelling.begin(job, now_ms=NOW_MS, by="grace") == begun
    backend.cancelling.end(begun, now_ms=NOW_MS)
    again = backend.cancelling.begin(the_job(backend), now_ms=NOW_MS)
    assert again is not None
    assert (begun.cancelled_by, again.cancelled_by) == ("ada", "ada")


@pytest.mark.parametrize(
    "facts",
    [
        *[
            {"state": state}
            for state in sorted(set(JobState) - {JobState.OPEN, JobState.CANCELLING})
        ],
        {"run": 2},
        {"redrive_key": "task/redrives/1.json"},
    ],
    ids=str,
)
def test_any_other_job_is_not_cancelled(backend: Backend, facts: dict[str, Any]) -> None:
    plan = a_plan()
    read = replace(plan.job, state=JobState.OPEN)
    backend.intake.write(replace(plan, job=replace(read, **facts)))
    before = the_job(backend)
    assert backend.cancelling.begin(read, now_ms=NOW_MS) is None
    assert the_job(backend) == before


def test_the_end_of_an_older_run_changes_nothing(backend: Backend) -> None:
    job = a_job(backend, run=2)
    begun = backend.cancelling.begin(job, now_ms=NOW_MS)
    backend.cancelling.end(replace(job, run=1), now_ms=NOW_MS)
    assert the_job(backend) == begun
