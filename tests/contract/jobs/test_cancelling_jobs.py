"""The contract of cancelling for jobs: their states, their progress, and what is read meanwhile."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import MustNotStart
from switchyard.domain.ids import END, START, JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Payload
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend


def test_a_read_of_tasks_says_whether_their_job_is_being_cancelled(backend: Backend) -> None:
    backend.intake.write(a_plan())
    backend.intake.open(a_plan(), now_ms=NOW_MS)
    job = the_job(backend)
    refs = [JOB.task(END), JOB.task("scrape-store"), JOB.task("nobody")]
    before = backend.graph.find_in_job(refs)
    assert set(before.tasks) == {END, "scrape-store"}
    assert before.tasks == backend.graph.find_many(refs)
    begun = backend.cancelling.begin(job, now_ms=NOW_MS)
    assert begun is not None
    assert not before.job_cancelled
    assert backend.graph.find_in_job(refs).job_cancelled
    backend.cancelling.end(begun, now_ms=NOW_MS, cursor="events#")
    assert backend.graph.find_in_job(refs).job_cancelled
    backend.jobs.settle(the_job(backend), JobState.CANCELLED, now_ms=NOW_MS)
    assert not backend.graph.find_in_job(refs).job_cancelled


def test_a_look_at_tasks_of_several_jobs_says_which_job_is_being_cancelled(
    backend: Backend,
) -> None:
    other = JobRef("other", JOB.job_id)
    for ref in (JOB, other):
        plan = a_plan(job=ref)
        backend.intake.write(plan)
        backend.intake.open(plan, now_ms=NOW_MS)
    assert backend.cancelling.begin(the_job(backend), now_ms=NOW_MS)
    refs = [JOB.task("scrape-store"), other.task("scrape-store"), JOB.task("nobody")]
    seen = backend.leases.look_at([*refs, refs[0]])
    assert {ref: found.job_cancelled for ref, found in seen.items()} == {
        refs[0]: True,
        refs[1]: False,
    }
    assert seen[refs[1]].task == backend.graph.find(refs[1])


def test_a_cancelled_task_is_seen_to_until_the_events_of_its_settled_job_were_emitted(
    backend: Backend,
) -> None:
    backend.intake.write(a_plan())
    backend.intake.open(a_plan(), now_ms=NOW_MS)
    begun = backend.cancelling.begin(the_job(backend), now_ms=NOW_MS)
    assert begun is not None
    cancelled, waiting = JOB.task("scrape-store"), JOB.task(END)
    ready = backend.graph.remove_edges(cancelled, {f"{START}@1": True})
    verdict = Readiness(TaskState.CANCELLED, "cancellation was requested")
    assert backend.graph.decide(ready, verdict, now_ms=NOW_MS).state is TaskState.CANCELLED

    def seen_to() -> list[bool]:
        seen = backend.leases.look_at([cancelled, waiting])
        return [seen[ref].job_cancelled for ref in (cancelled, waiting)]

    assert seen_to() == [True, True]
    backend.cancelling.end(begun, now_ms=NOW_MS, cursor="events#")
    backend.jobs.settle(the_job(backend), JobState.CANCELLED, now_ms=NOW_MS)
    assert seen_to() == [True, False]
    backend.cancelling.note_reported(the_job(backend), None)
    assert seen_to() == [False, False]


def test_what_a_task_needs_is_not_read_once_its_job_is_being_cancelled(backend: Backend) -> None:
    backend.intake.write(a_plan())
    backend.intake.open(a_plan(), now_ms=NOW_MS)
    ref = JOB.task("scrape-store")
    assert backend.payloads.read_to_start(ref) == backend.payloads.read(ref)
    begun = backend.cancelling.begin(the_job(backend), now_ms=NOW_MS)
    assert begun is not None
    with pytest.raises(MustNotStart):
        backend.payloads.read_to_start(ref)
    backend.cancelling.end(begun, now_ms=NOW_MS, cursor="events#")
    with pytest.raises(MustNotStart):
        backend.payloads.read_to_start(ref)
    bare = TaskRef(JOB.tenant, "~nobody", "nobody")
    assert backend.payloads.read_to_start(bare) == Payload()


def test_progress_is_stored_while_this_run_is_being_cancelled(backend: Backend) -> None:
    job = a_job(backend)
    backend.cancelling.note_progress(job, "all#a")
    assert the_job(backend) == job
    begun = backend.cancelling.begin(job, now_ms=NOW_MS)
    assert begun is not None
    backend.cancelling.note_progress(replace(begun, run=2), "all#b")
    assert the_job(backend) == begun
    backend.cancelling.note_progress(begun, "all#c")
    assert the_job(backend) == replace(begun, cancel_cursor="all#c")
    backend.cancelling.note_reported(begun, "events#a")
    assert the_job(backend) == replace(begun, cancel_cursor="all#c")
    backend.cancelling.end(begun, now_ms=NOW_MS, cursor="events#")
    assert the_job(backend).cancel_cursor == "events#"


def test_whose_events_were_emitted_is_stored_once_all_tasks_were_visited(backend: Backend) -> None:
    begun = backend.cancelling.begin(a_job(backend), now_ms=NOW_MS)
    assert begun is not None
    backend.cancelling.end(begun, now_ms=NOW_MS, cursor="events#")
    backend.cancelling.note_reported(replace(begun, run=2), "events#a")
    assert the_job(backend).cancel_cursor == "events#"
    backend.cancelling.note_reported(begun, "events#b")
    assert the_job(backend).cancel_cursor == "events#b"
    again = backend.cancelling.begin(the_job(backend), now_ms=NOW_MS)
    assert again is not None
    assert again.cancel_cursor is None
    backend.cancelling.note_reported(begun, "events#c")
    assert the_job(backend) == again
    backend.cancelling.end(again, now_ms=NOW_MS, cursor="events#")
    backend.cancelling.note_reported(again, None)
    assert the_job(backend).cancel_cursor is None


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
    backend.cancelling.end(begun, now_ms=NOW_MS + 5, cursor="events#")
    audited_at_ms = NOW_MS + 5 + due.JOB_AUDIT
    ended = replace(begun, state=JobState.OPEN, cancel_cursor="events#", due_at_ms=audited_at_ms)
    assert the_job(backend) == ended
    backend.cancelling.end(begun, now_ms=NOW_MS + 9, cursor="events#")
    assert the_job(backend) == ended


def test_who_cancelled_is_remembered_and_not_forgotten_by_who_is_unknown(backend: Backend) -> None:
    job = a_job(backend)
    begun = backend.cancelling.begin(job, now_ms=NOW_MS, by="ada")
    assert begun is not None
    assert backend.cancelling.begin(job, now_ms=NOW_MS, by="grace") == begun
    backend.cancelling.end(begun, now_ms=NOW_MS, cursor="events#")
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
    backend.cancelling.end(replace(job, run=1), now_ms=NOW_MS, cursor="events#")
    assert the_job(backend) == begun
