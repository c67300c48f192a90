"""Redrives that crash, are doubled, or meet the wake-ups of the last run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.ids import END
from switchyard.domain.jobs.redrive import REDRIVABLE
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Outcome, Task
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import COMPLETED, FAILED, Crash
from tests.fakes.narrow_relays import narrow_relays

STEPS = (
    *[("redriving", name) for name in ("prepare", "reopen", "note", "open", "end")],
    ("graph", "mark_queued"),
    ("queue", "send"),
    ("bus", "put"),
)
TIMED_OUT = Outcome(state=TaskState.TIMED_OUT, timeout_ms=1)
DIAMONDS: dict[str, list[str]] = {
    "a": [],
    "b": ["a"],
    "c": ["a"],
    "d": ["b", "c"],
    "e": ["d"],
    "f": [],
}


@contextmanager
def before_each_step(harness: ChangedHarness, act: Callable[[], None]) -> Iterator[None]:
    """Run this before each write, event and message of a redrive."""
    acting: list[object] = []

    def preceded(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            if not acting:  # what it does takes such steps, too
                acting.append(act)
                act()
                acting.clear()
            return call(*arguments, **named)

        return step

    with pytest.MonkeyPatch.context() as patch:
        for part, name in STEPS:
            target = getattr(harness.memory, part)
            patch.setattr(target, name, preceded(getattr(target, name)))
        yield


@dataclass
class Fuse:
    """Ends whoever takes this many steps."""

    left: int

    def burn(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Crash


def failed_diamonds() -> ChangedHarness:
    harness = ChangedHarness()
    harness.start(DIAMONDS)
    harness.settle("a")
    harness.settle("b", FAILED)
    harness.settle("c", FAILED)
    harness.settle("f")
    harness.deliver()
    assert harness.job_state() is JobState.FAILED
    return harness


def crashes_after(harness: ChangedHarness, steps: int) -> bool:
    with before_each_step(harness, Fuse(steps).burn):
        try:
            harness.redriver.go_on(harness.the_job(), until=harness.until)
        except Crash:
            return True
    return False


def run_to_the_end(harness: ChangedHarness, outcome: Callable[[str], Outcome]) -> None:
    while not harness.job_state().settled:
        harness.deliver()
        ready = [name for name, state in harness.states().items() if state is TaskState.QUEUED]
        assert ready or harness.job_state().settled, "nothing is left to run"
        for name in ready:
            harness.settle(name, outcome(name))
        harness.deliver()


def everything(harness: ChangedHarness) -> dict[str, Task]:
    return {task.ref.task_id: task for task in harness.memory.jobs.picture(harness.job).tasks}


def test_a_crash_before_any_step_is_mended_by_the_next_wake_up() -> None:
    steps = 0
    while True:
        harness = failed_diamonds()
        harness.redrive()
        crashed = crashes_after(harness, steps)
        harness.deliver()
        if not crashed:
            break
        assert harness.runs() == {"a": 1, "b": 2, "c": 2, "d": 2, "e": 2, "f": 1}, steps
        assert harness.emitted()["Task Redriven"] == 4
        assert harness.emitted()["Task Pending"] == 4 + 2
        run_to_the_end(harness, lambda _: COMPLETED)
        assert harness.job_state() is JobState.COMPLETED
        assert harness.the_job().redrive_key is None
        steps += 1
    assert steps > 14


def test_wake_ups_of_the_last_run_change_nothing_at_any_point() -> None:
    harness = failed_diamonds()
    harness.redrive()
    every = [harness.run_of(name) for name in [*DIAMONDS, END]]
    sent = [harness.run_of(name) for name in ("b", "c", "d", "e", END)]

    def wake_all() -> None:
        before, job, emitted = everything(harness), harness.the_job(), harness.emitted()
        harness.dispatcher.dispatch(every, until=harness.until, woken_by_event=True)
        harness.dispatcher.dispatch(sent, until=harness.until)
        assert everything(harness) == before
        assert harness.the_job() == job
        assert harness.emitted() == emitted

    with before_each_step(harness, wake_all):
        assert harness.redriver.go_on(harness.the_job(), until=harness.until)
    assert harness.job_state() is JobState.OPEN
    assert harness.states()["b"] is TaskState.QUEUED


def test_two_who_redrive_at_once_do_it_once() -> None:
    harness = failed_diamonds()
    harness.redrive()
    read = harness.the_job()
    inner = iter([True])

    def other() -> None:
        if next(inner, False):
            assert harness.redriver.go_on(read, until=harness.until)

    with before_each_step(harness, other):
        harness.redriver.go_on(read, until=harness.until)
    assert harness.runs() == {"a": 1, "b": 2, "c": 2, "d": 2, "e": 2, "f": 1}
    assert harness.the_job().run == 2
    run_to_the_end(harness, lambda _: COMPLETED)
    assert harness.job_state() is JobState.COMPLETED


def test_one_that_comes_back_after_the_next_redrive_changes_nothing() -> None:
    harness = failed_diamonds()
    harness.redrive()
    stale = harness.the_job()
    harness.deliver()
    run_to_the_end(harness, lambda _: FAILED)
    harness.redrive()
    harness.deliver()
    before, job = everything(harness), harness.the_job()
    harness.redriver.go_on(stale, until=harness.until)
    assert (everything(harness), harness.the_job()) == (before, job)


@st.composite
def jobs(draw: st.DrawFn) -> tuple[dict[str, list[str]], dict[str, Rule]]:
    names = [f"t{n}" for n in range(draw(st.integers(1, 14)))]
    edges = {
        name: draw(st.lists(st.sampled_from(names[:n]), unique=True, max_size=8)) if n else []
        for n, name in enumerate(names)
    }
    return edges, {name: draw(st.sampled_from(Rule)) for name in names}


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(job=jobs(), data=st.data())
def test_any_job_may_be_redriven_however_often_and_wherever_it_crashes(
    job: tuple[dict[str, list[str]], dict[str, Rule]], data: st.DataObject
) -> None:
    edges, rules = job
    outcomes = st.sampled_from([COMPLETED, COMPLETED, FAILED, TIMED_OUT])

    def outcome(_name: str) -> Outcome:
        return data.draw(outcomes)

    with narrow_relays(2):
        harness = ChangedHarness()
        harness.start(edges, **rules)
        run_to_the_end(harness, outcome)
        for _ in range(data.draw(st.integers(1, 3))):
            before = everything(harness)
            late = [task.this_run for task in before.values()]
            able = sorted(n for n, t in before.items() if t.state in REDRIVABLE)
            by_default = [n for n in able if before[n].state is not TaskState.SKIPPED]
            some = st.lists(st.sampled_from(able), unique=True) if able else st.just([])
            selected = data.draw(some)
            if not selected and not by_default:
                break
            harness.redrive(*selected)
            for steps in data.draw(st.lists(st.integers(0, 40), max_size=4)):
                if harness.the_job().redrive_key:
                    crashes_after(harness, steps)
                    by_event = data.draw(st.booleans())
                    harness.dispatcher.dispatch(late, until=harness.until, woken_by_event=by_event)
            run_to_the_end(harness, outcome)
            holds_after(before, everything(harness), set(selected or by_default))


def holds_after(before: dict[str, Task], after: dict[str, Task], selected: set[str]) -> None:
    """All have settled, nothing is due, what completed was kept and the rest in one run more."""
    assert all(task.state.settled and task.due_at_ms is None for task in after.values())
    for name, task in before.items():
        stored = task.state is TaskState.COMPLETED and name != END
        assert after[name] == task or not stored, f"{name} had completed"
        assert after[name].run in {task.run, task.run + 1}
        if after[name].run == task.run:  # terminal is for ever within a run
            assert after[name] == task
    assert all(after[name].run == before[name].run + 1 for name in selected)
