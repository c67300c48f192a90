"""The contract of cancelling for tasks in every state, one by one and many at once."""

from dataclasses import replace

import pytest

from switchyard.domain.ids import END
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.cancellation import REASON
from switchyard.domain.tasks.task import Outcome, Task
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend
from tests.contract.jobs.test_every_state import Case, every_case, the_task

NOBODY_RUNS_IT = {TaskState.READY, TaskState.QUEUED, TaskState.HELD}
ALIKE = {
    TaskState.READY: TaskState.QUEUED,
    TaskState.QUEUED: TaskState.READY,
    TaskState.HELD: TaskState.QUEUED,
    TaskState.WAITING: TaskState.PROCESSING,
    TaskState.PROCESSING: TaskState.WAITING,
}
"""The two states that a cancel treats alike."""


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


@pytest.mark.parametrize("backend", ["memory", "ministack", "simulated"], indirect=True)
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
