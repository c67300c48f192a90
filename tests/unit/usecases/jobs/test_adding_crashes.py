"""Adding tasks may be interrupted at any point: nothing is added in part, and all of it settles."""

from collections.abc import Callable
from itertools import count

import pytest

from switchyard.contracts.events import JobTasksAdded
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState, TaskState
from tests.fakes.harnesses.growing_harness import AddingHarness
from tests.fakes.harnesses.job_harness import FAILED, Crash
from tests.fakes.harnesses.swept_harness import HOUR

WIDE = {"first": ["a"], **{f"new-{n}": ["first", "lost"] for n in range(40)}, "last": ["new-0"]}
TRIES = 40

Act = Callable[..., object]


def a_harness() -> AddingHarness:
    """One task has failed, one waits, one has yet to run."""
    harness = AddingHarness()
    harness.start({"a": [], "b": ["a"], "lost": []})
    harness.run("lost", outcome=FAILED)
    return harness


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


def add_and_die(harness: AddingHarness, monkeypatch: pytest.MonkeyPatch, mortal: Mortal) -> bool:
    """Whether it died: there may be no nth act."""
    memory = harness.memory
    with monkeypatch.context() as mortally:
        mortally.setattr(memory.additions, "add", mortal(memory.additions.add))
        mortally.setattr(memory.bus, "put", mortal(memory.bus.put))
        mortally.setattr(memory.dispatches, "send", mortal(memory.dispatches.send))
        try:
            harness.add(WIDE)
        except Crash:
            memory.dispatches.refs.clear()  # as if even what was sent had been lost
    return mortal.died


def only_sweep_until_settled(harness: AddingHarness) -> None:
    for _ in range(TRIES):
        if harness.job_state() is not JobState.OPEN:
            return
        harness.sweep(after=HOUR)
        for task in harness.memory.jobs.picture(harness.job).visible_tasks:
            if task.state is TaskState.QUEUED:
                harness.settle_only(task.ref.task_id)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("nth", range(1, 7))
def test_a_job_settles_with_what_was_added_before_the_crash(
    nth: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = a_harness()
    assert add_and_die(harness, monkeypatch, Mortal(nth, after=after))
    only_sweep_until_settled(harness)
    picture = harness.memory.jobs.picture(harness.job)
    assert picture.job.state is JobState.FAILED
    assert {task.state for task in picture.tasks} <= {
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.SKIPPED,
        TaskState.NOT_COMPLETED,
    }
    assert picture.job.total_tasks == len(picture.visible_tasks)
    emitted = {
        task.task_id
        for event in harness.memory.bus.events
        if isinstance(event.properties, JobTasksAdded)
        for task in event.properties.new_tasks
    }
    known = {task.ref.task_id for task in picture.visible_tasks}
    assert emitted == known - {"a", "b", "lost"}


def test_two_chunks_are_six_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above therefore crashed at every one of them."""
    assert not add_and_die(a_harness(), monkeypatch, Mortal(7, after=False))


def test_what_was_added_before_an_outage_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = a_harness()
    add, numbers = harness.memory.additions.add, count()

    def failing(*args: object) -> object:
        if next(numbers):
            raise Unavailable("down")
        return add(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(harness.memory.additions, "add", failing)
    answer = harness.add(WIDE)
    assert answer.problem is not None
    assert "did not answer" in answer.problem
    assert 0 < len(answer.added_tasks) < len(WIDE)
    assert answer.total_tasks_now == 3 + len(answer.added_tasks)


def test_an_outage_of_the_bus_after_all_was_added_is_no_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = a_harness()

    def down(*_args: object) -> None:
        raise Unavailable("down")

    monkeypatch.setattr(harness.memory.bus, "put", down)
    assert harness.add({"c": []}).problem is None
