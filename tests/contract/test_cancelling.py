"""What everybody promises who cancels: for jobs, and for tasks in every state."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import MustNotStart
from switchyard.domain.ids import END, JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.cancelling import REASON
from switchyard.domain.tasks.task import Outcome, Payload, Task
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


@every_case
def test_many_are_cancelled_as_each_would_be(backend: Backend, case: Case) -> None:
    before = case.put(backend)
    hidden = backend.graph.find(JOB.task(END))
    assert hidden is not None
    nothing_to_change = before.state.settled or (
        before.cancel_requested and before.state not in NOBODY_RUNS_IT
    )
    if not nothing_to_change:
        stale = replace(before, fence=before.fence - 1)
        assert list(backend.cancelling.cancel_many([stale], now_ms=NOW_MS)) == [None]
        assert the_task(backend) == before
    answers = backend.cancelling.cancel_many([hidden, before], now_ms=NOW_MS)
    assert list(answers) == [hidden, the_task(backend)]
    if before.state in NOBODY_RUNS_IT:
        assert answers[1] == replace(
            before,
            state=TaskState.CANCELLED,
            fence=before.fence + 1,
            outcome=Outcome(state=TaskState.CANCELLED, error=REASON),
            settled_at_ms=NOW_MS,
            due_at_ms=NOW_MS + due.AFTER_SETTLING,
        )
    else:
        assert answers[1] == replace(
            before, cancel_requested=before.cancel_requested or not before.state.settled
        )


MORE_THAN_A_TRANSACTION = 102
SOME = 12


def roots(count: int) -> dict[str, list[str]]:
    return {f"t{number:03}": [] for number in range(count)}


def open_roots(backend: Backend, count: int = SOME) -> list[Task]:
    plan = a_plan(roots(count))
    ready = [
        task if task.ref.hidden else replace(task, state=TaskState.READY, waiting_on=frozenset())
        for task in plan.tasks
    ]
    backend.intake.write(replace(plan, tasks=tuple(ready)))
    return paged(backend)


def paged(backend: Backend) -> list[Task]:
    """All pages: one may have fewer tasks than asked for, and none only at the end."""
    tasks: list[Task] = []
    after = None
    while page := backend.cancelling.page(JOB, after=after, at_most=999):
        tasks += page
        after = tasks[-1].ref.task_id
    return tasks


def test_a_page_goes_on_after_an_id(backend: Backend) -> None:
    tasks = open_roots(backend)
    names = [task.ref.task_id for task in tasks]
    assert names == sorted(names)
    assert set(names) >= {*roots(SOME), END}
    some = [task.ref.task_id for task in backend.cancelling.page(JOB, after=names[2], at_most=5)]
    assert some
    assert some == names[3:8][: len(some)]
    assert list(backend.cancelling.page(JOB, after=names[-1], at_most=5)) == []


def test_those_that_changed_keep_none_of_the_others_from_being_cancelled(backend: Backend) -> None:
    found = open_roots(backend, MORE_THAN_A_TRANSACTION)
    tasks = [task for task in found if not task.ref.hidden]
    for taken in (tasks[3], tasks[101]):
        backend.graph.mark_queued(taken, now_ms=NOW_MS)
    answers = backend.cancelling.cancel_many(tasks, now_ms=NOW_MS)
    assert [n for n, answer in enumerate(answers) if answer is None] == [3, 101]
    states = {task.ref.task_id: task.state for task in backend.jobs.picture(JOB).visible_tasks}
    assert states.pop("t003") is states.pop("t101") is TaskState.QUEUED
    assert set(states.values()) == {TaskState.CANCELLED}
    backend.graph.clear_due_of_many([task for task in answers if task])
    due_now = {
        task.ref.task_id for task in backend.jobs.picture(JOB).visible_tasks if task.due_at_ms
    }
    assert due_now == {"t003", "t101"}


def test_a_due_time_that_changed_is_not_cleared_with_the_others(backend: Backend) -> None:
    first, second, *_ = [task for task in open_roots(backend) if not task.ref.hidden]
    done = backend.cancelling.cancel_many([first, second], now_ms=NOW_MS)
    settled = [task for task in done if task]
    backend.graph.clear_due_of_many([replace(settled[0], run=2), settled[1]])
    found = backend.graph.find_many([first.ref, second.ref])
    assert found[first.ref.task_id].due_at_ms == settled[0].due_at_ms
    assert found[second.ref.task_id].due_at_ms is None


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
