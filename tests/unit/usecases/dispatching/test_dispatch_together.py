"""Several tasks of one job, followed together: what it costs, and what is left for later."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import Unavailable, UnknownTask
from switchyard.domain.ids import END
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, Task
from tests.fakes.harnesses.job_harness import COMPLETED, FAILED, Harness

PORTS = {
    "jobs": ("find", "states", "note_failure", "settle"),
    "graph": (
        "find",
        "find_many",
        "edges_from",
        "remove_edges",
        "decide",
        "mark_queued",
        "clear_due",
    ),
    "queue": ("send",),
    "bus": ("put",),
    "dispatches": ("send",),
}


class Meter:
    """Counts calls of ports. At this size each is one call of AWS, if it asks for anything."""

    def __init__(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: Counter[str] = Counter()
        for part, names in PORTS.items():
            for name in names:
                target = getattr(harness.memory, part)
                monkeypatch.setattr(target, name, self._counting(f"{part}.{name}", target, name))

    def _counting(self, label: str, target: object, name: str) -> Any:
        call = getattr(target, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            if args[0] != []:
                self.calls[label] += 1
            return call(*args, **kwargs)

        return count


@pytest.fixture
def harness() -> Harness:
    return Harness()


def settle_all(harness: Harness, names: list[str], outcome: Outcome = COMPLETED) -> None:
    for name in names:
        harness.settle(name, outcome, times=0)


def test_a_step_of_a_chain_is_eight_calls(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": ["a"], "c": ["b"]})
    harness.settle("a", times=0)
    meter = Meter(harness, monkeypatch)
    harness.wake("a")
    assert sum(meter.calls.values()) == 8, meter.calls


def test_a_task_that_was_followed_before_is_one_read(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a")
    meter = Meter(harness, monkeypatch)
    harness.wake("a")
    assert meter.calls == {"graph.find_many": 1}


def test_a_child_of_many_is_written_once_for_all_of_them(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    parents = [f"p{n}" for n in range(10)]
    harness.start({**{name: [] for name in parents}, "child": parents})
    settle_all(harness, parents)
    meter = Meter(harness, monkeypatch)
    harness.wake(*parents)
    assert harness.state("child") is TaskState.QUEUED
    assert meter.calls["graph.remove_edges"] == meter.calls["graph.decide"] == 1


def test_what_is_named_twice_is_followed_once(harness: Harness) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a", times=0)
    harness.wake("a", "a")
    assert harness.emitted()["Task Pending"] == 2


def test_of_many_failures_one_is_written_and_later_ones_not_at_all(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{n}" for n in range(6)]
    harness.start({name: [] for name in names})
    settle_all(harness, names, FAILED)
    meter = Meter(harness, monkeypatch)
    harness.wake(*names[:3])
    harness.wake(*names[3:5])
    assert (meter.calls["jobs.find"], meter.calls["jobs.note_failure"]) == (2, 1)
    job = harness.memory.jobs.find(harness.job)
    assert job is not None
    assert job.failed_task_id == "t0"
    assert harness.emitted()["Job Failure Detected"] == 1


def test_a_wide_job_runs_through_its_relays_to_its_end(harness: Harness) -> None:
    middle = [f"m{n}" for n in range(250)]
    harness.start({"a": [], **{name: ["a"] for name in middle}, "z": middle})
    harness.settle("a")
    assert {harness.state(name) for name in middle} == {TaskState.QUEUED}
    settle_all(harness, middle)
    harness.wake(*middle[:125])
    assert harness.state("z") is TaskState.WAITING
    harness.wake(*middle[125:])
    harness.settle("z")
    assert harness.job_state() is JobState.COMPLETED
    assert harness.emitted() == {"Job Created": 1, "Task Pending": 252, "Job Completed": 1}
    assert [t.ref for t in harness.memory.state.tasks.values() if t.due_at_ms is not None] == []


def test_a_failure_is_seen_through_relays(harness: Harness) -> None:
    middle = [f"m{n}" for n in range(250)]
    harness.start({**{name: [] for name in middle}, "z": middle})
    settle_all(harness, middle[1:])
    settle_all(harness, middle[:1], FAILED)
    harness.wake(*middle)
    skipped = harness.memory.graph.find(harness.job.task("z"))
    assert skipped is not None
    assert skipped.outcome is not None
    assert (skipped.state, skipped.outcome.error) == (TaskState.SKIPPED, "did not complete: m0")
    assert harness.job_state() is JobState.FAILED


def test_when_time_is_over_the_rest_goes_to_the_dispatch_queue(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(30)}
    harness.start(chain)
    harness.settle("t0", FAILED, times=0)
    clear_due = harness.memory.graph.clear_due

    def slowly(task: Task) -> None:
        harness.clock.advance(6)
        clear_due(task)

    monkeypatch.setattr(harness.memory.graph, "clear_due", slowly)
    harness.wake("t0")
    assert list(harness.memory.dispatches.refs) == [harness.run_of("t3")]
    assert harness.state("t3") is TaskState.SKIPPED
    assert harness.state("t4") is TaskState.WAITING
    assert harness.memory.state.tasks[harness.job.task("t3")].due_at_ms is not None
    harness.work_off()
    assert harness.job_state() is JobState.FAILED
    assert harness.emitted()["Task Skipped"] == 29


def test_what_was_sent_directly_is_followed_even_if_it_is_not_due(harness: Harness) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a", times=0)
    harness.memory.graph.clear_due(harness.memory.state.tasks[harness.job.task("a")])
    harness.wake("a", by_event=True)
    assert harness.state("b") is TaskState.WAITING
    harness.wake("a", by_event=False)
    assert harness.state("b") is TaskState.QUEUED


@pytest.mark.parametrize("by_event", [True, False])
def test_a_ready_task_that_was_sent_directly_is_started(harness: Harness, by_event: bool) -> None:
    harness.start({"a": []})
    assert harness.queued() == {"a"}
    ready = replace(harness.memory.state.tasks[harness.job.task("a")], state=TaskState.READY)
    harness.memory.state.tasks[ready.ref] = ready
    harness.wake("a", by_event=by_event)
    assert harness.queued() == (set() if by_event else {"a"})


def test_one_unknown_task_stops_the_others_before_anything_happens(harness: Harness) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a", times=0)
    with pytest.raises(UnknownTask):
        harness.wake("a", "nobody")
    assert harness.state("b") is TaskState.WAITING


class Flagging:
    """Somebody flags the task just before it is decided."""

    def __init__(self, harness: Harness, *, times: int) -> None:
        self._harness = harness
        self._decide = harness.memory.graph.decide
        self._times = times

    def __call__(self, task: Task, verdict: Readiness, *, now_ms: int) -> Task:
        if self._times:
            self._times -= 1
            stored = self._harness.memory.state.tasks[task.ref]
            flagged = replace(stored, cancel_requested=not stored.cancel_requested)
            self._harness.memory.state.tasks[task.ref] = flagged
        return self._decide(task, verdict, now_ms=now_ms)


def test_a_task_that_is_flagged_while_it_is_decided_is_decided_anew(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": ["a"]})
    monkeypatch.setattr(harness.memory.graph, "decide", Flagging(harness, times=1))
    harness.settle("a")
    assert harness.state("b") is TaskState.CANCELLED
    assert harness.emitted()["Task Cancelled"] == 1
    assert harness.emitted()["Task Pending"] == 1


def test_a_task_that_never_holds_still_is_left_for_later(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": ["a"]})
    monkeypatch.setattr(harness.memory.graph, "decide", Flagging(harness, times=99))
    with pytest.raises(Unavailable):
        harness.settle("a")
    assert harness.memory.state.tasks[harness.job.task("a")].due_at_ms is not None


@pytest.mark.parametrize("state", [JobState.CANCELLING, JobState.REDRIVING])
def test_a_job_in_the_middle_of_something_is_settled_later(
    harness: Harness, state: JobState
) -> None:
    harness.start({"a": []})
    opened = harness.memory.state.jobs[harness.job]
    harness.memory.state.jobs[harness.job] = replace(opened, state=state)
    harness.settle("a")
    assert harness.state(END) is TaskState.COMPLETED
    assert harness.memory.state.tasks[harness.job.task(END)].due_at_ms is not None
    assert harness.job_state() is state
    harness.memory.state.jobs[harness.job] = opened
    harness.wake(END, by_event=False)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.memory.state.tasks[harness.job.task(END)].due_at_ms is None


def test_an_end_that_was_reopened_since_it_was_read_ends_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": []})
    harness.settle("a", times=0)
    states = harness.memory.jobs.states

    def reopened(ref: Any) -> Any:
        end = harness.memory.state.tasks[harness.job.task(END)]
        waiting = replace(end, state=TaskState.WAITING, run=2, fence=end.fence + 1)
        harness.memory.state.tasks[end.ref] = replace(waiting, waiting_on=frozenset({"a@2"}))
        return states(ref)

    monkeypatch.setattr(harness.memory.jobs, "states", reopened)
    harness.wake("a")
    assert harness.job_state() is JobState.OPEN
    assert "Job Completed" not in harness.emitted()


def test_a_job_that_ends_before_its_redrive_was_cleared_is_gone_on_with(harness: Harness) -> None:
    harness.start({"a": []})
    job = replace(harness.memory.state.jobs[harness.job], redrive_key="task/redrives/a.json")
    harness.memory.state.jobs[harness.job] = job
    harness.settle("a")
    assert harness.job_state() is JobState.COMPLETED
    assert list(harness.memory.dispatches.refs) == [harness.job]


@pytest.mark.parametrize("by_event", [True, False])
def test_a_wake_up_of_an_earlier_run_leaves_a_task_alone(harness: Harness, by_event: bool) -> None:
    """It may have ended again, and nobody told yet: its due time says so."""
    harness.start({"a": [], "b": ["a"]})
    earlier = harness.run_of("a")
    harness.settle("a", times=0)
    again = replace(harness.memory.state.tasks[earlier.ref], run=2)
    harness.memory.state.tasks[earlier.ref] = again
    harness.dispatcher.dispatch([earlier], until=harness.until, woken_by_event=by_event)
    assert harness.memory.state.tasks[earlier.ref] == again
    harness.dispatcher.dispatch([again.this_run], until=harness.until, woken_by_event=by_event)
    assert harness.memory.state.tasks[earlier.ref].due_at_ms is None
