"""Whoever adds tasks may die at any point: nothing is half there, and what is there settles."""

from collections.abc import Callable
from itertools import count

import pytest

from switchyard.contracts.events import JobTasksAdded
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState, TaskState
from tests.fakes.adding import AddingYard
from tests.fakes.swept_yard import HOUR
from tests.fakes.yard import FAILED, Crash

WIDE = {"first": ["a"], **{f"new-{n}": ["first", "lost"] for n in range(40)}, "last": ["new-0"]}
TRIES = 40

Act = Callable[..., object]


def a_yard() -> AddingYard:
    """One task has failed, one waits, one has yet to run."""
    yard = AddingYard()
    yard.start({"a": [], "b": ["a"], "lost": []})
    yard.run("lost", outcome=FAILED)
    return yard


class Mortal:
    """Dies at its nth act: before, or when it is done and nobody has heard of it."""

    def __init__(self, nth: int, *, after: bool) -> None:
        self._numbers = count(1)
        self._nth, self._after = nth, after
        self.died = False

    def __call__(self, act: Act) -> Act:
        def acting(*args: object, **kwargs: object) -> object:
            last = next(self._numbers) == self._nth
            self.died |= last
            if last and not self._after:
                raise Crash
            answer = act(*args, **kwargs)
            if last:
                raise Crash
            return answer

        return acting


def add_and_die(yard: AddingYard, monkeypatch: pytest.MonkeyPatch, mortal: Mortal) -> bool:
    """Whether it died: there may be no nth act."""
    memory = yard.memory
    with monkeypatch.context() as mortally:
        mortally.setattr(memory.additions, "add", mortal(memory.additions.add))
        mortally.setattr(memory.bus, "put", mortal(memory.bus.put))
        mortally.setattr(memory.dispatches, "send", mortal(memory.dispatches.send))
        try:
            yard.add(WIDE)
        except Crash:
            memory.dispatches.refs.clear()  # as if even what was sent had been lost
    return mortal.died


def only_sweep_until_settled(yard: AddingYard) -> None:
    for _ in range(TRIES):
        if yard.job_state() is not JobState.OPEN:
            return
        yard.sweep(after=HOUR)
        for task in yard.memory.jobs.picture(yard.job).visible_tasks:
            if task.state is TaskState.QUEUED:
                yard.settle_only(task.ref.task_id)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("nth", range(1, 7))
def test_a_job_settles_with_what_was_added_before_the_crash(
    nth: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = a_yard()
    assert add_and_die(yard, monkeypatch, Mortal(nth, after=after))
    only_sweep_until_settled(yard)
    picture = yard.memory.jobs.picture(yard.job)
    assert picture.job.state is JobState.FAILED
    assert {task.state for task in picture.tasks} <= {
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.SKIPPED,
        TaskState.NOT_COMPLETED,
    }
    assert picture.job.total_tasks == len(picture.visible_tasks)
    told = {
        task.task_id
        for event in yard.memory.bus.events
        if isinstance(event.properties, JobTasksAdded)
        for task in event.properties.new_tasks
    }
    known = {task.ref.task_id for task in picture.visible_tasks}
    assert told == known - {"a", "b", "lost"}


def test_two_chunks_are_six_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So every one of them was died at above."""
    assert not add_and_die(a_yard(), monkeypatch, Mortal(7, after=False))


def test_what_was_added_before_an_outage_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    yard = a_yard()
    add, numbers = yard.memory.additions.add, count()

    def failing(*args: object) -> object:
        if next(numbers):
            raise Unavailable("down")
        return add(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(yard.memory.additions, "add", failing)
    answer = yard.add(WIDE)
    assert answer.problem is not None
    assert "did not answer" in answer.problem
    assert 0 < len(answer.added_tasks) < len(WIDE)
    assert answer.total_tasks_now == 3 + len(answer.added_tasks)


def test_an_outage_of_the_bus_after_all_was_added_is_no_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard = a_yard()

    def down(*_args: object) -> None:
        raise Unavailable("down")

    monkeypatch.setattr(yard.memory.bus, "put", down)
    assert yard.add({"c": []}).problem is None
