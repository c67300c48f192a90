"""Several tasks of one job, followed together: what it costs, and what is left for later."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import Unavailable, UnknownTask
from switchyard.domain.ids import END
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.readiness import Verdict
from switchyard.domain.tasks.task import Outcome, Task
from tests.fakes.yard import COMPLETED, FAILED, Yard

PORTS = {
    "jobs": ("find", "picture", "note_failure", "settle"),
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

    def __init__(self, yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: Counter[str] = Counter()
        for part, names in PORTS.items():
            for name in names:
                target = getattr(yard.memory, part)
                monkeypatch.setattr(target, name, self._counting(f"{part}.{name}", target, name))

    def _counting(self, label: str, target: object, name: str) -> Any:
        call = getattr(target, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            if args[0] != []:
                self.calls[label] += 1
            return call(*args, **kwargs)

        return count


@pytest.fixture
def yard() -> Yard:
    return Yard()


def settle_all(yard: Yard, names: list[str], outcome: Outcome = COMPLETED) -> None:
    for name in names:
        yard.settle(name, outcome, times=0)


def test_a_step_of_a_chain_is_eight_calls(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.start({"a": [], "b": ["a"], "c": ["b"]})
    yard.settle("a", times=0)
    meter = Meter(yard, monkeypatch)
    yard.wake("a")
    assert sum(meter.calls.values()) == 8, meter.calls


def test_a_task_that_was_followed_before_is_one_read(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a")
    meter = Meter(yard, monkeypatch)
    yard.wake("a")
    assert meter.calls == {"graph.find_many": 1}


def test_a_child_of_many_is_written_once_for_all_of_them(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    parents = [f"p{n}" for n in range(10)]
    yard.start({**{name: [] for name in parents}, "child": parents})
    settle_all(yard, parents)
    meter = Meter(yard, monkeypatch)
    yard.wake(*parents)
    assert yard.state("child") is TaskState.QUEUED
    assert meter.calls["graph.remove_edges"] == meter.calls["graph.decide"] == 1


def test_what_is_named_twice_is_followed_once(yard: Yard) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a", times=0)
    yard.wake("a", "a")
    assert yard.told()["Task Pending"] == 2


def test_of_many_failures_one_is_written_and_later_ones_not_at_all(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{n}" for n in range(6)]
    yard.start({name: [] for name in names})
    settle_all(yard, names, FAILED)
    meter = Meter(yard, monkeypatch)
    yard.wake(*names[:3])
    yard.wake(*names[3:5])
    assert (meter.calls["jobs.find"], meter.calls["jobs.note_failure"]) == (2, 1)
    job = yard.memory.jobs.find(yard.job)
    assert job is not None
    assert job.failed_task_id == "t0"
    assert yard.told()["Job Failure Detected"] == 1


def test_a_wide_job_runs_through_its_relays_to_its_end(yard: Yard) -> None:
    middle = [f"m{n}" for n in range(250)]
    yard.start({"a": [], **{name: ["a"] for name in middle}, "z": middle})
    yard.settle("a")
    assert {yard.state(name) for name in middle} == {TaskState.QUEUED}
    settle_all(yard, middle)
    yard.wake(*middle[:125])
    assert yard.state("z") is TaskState.WAITING
    yard.wake(*middle[125:])
    yard.settle("z")
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told() == {"Job Created": 1, "Task Pending": 252, "Job Completed": 1}
    assert [t.ref for t in yard.memory.state.tasks.values() if t.due_at_ms is not None] == []


def test_a_failure_is_seen_through_relays(yard: Yard) -> None:
    middle = [f"m{n}" for n in range(250)]
    yard.start({**{name: [] for name in middle}, "z": middle})
    settle_all(yard, middle[1:])
    settle_all(yard, middle[:1], FAILED)
    yard.wake(*middle)
    skipped = yard.memory.graph.find(yard.job.task("z"))
    assert skipped is not None
    assert skipped.outcome is not None
    assert (skipped.state, skipped.outcome.error) == (TaskState.SKIPPED, "did not complete: m0")
    assert yard.job_state() is JobState.FAILED


def test_when_time_is_over_the_rest_goes_to_the_dispatch_queue(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(30)}
    yard.start(chain)
    yard.settle("t0", FAILED, times=0)
    clear_due = yard.memory.graph.clear_due

    def slowly(task: Task) -> None:
        yard.clock.advance(8)
        clear_due(task)

    monkeypatch.setattr(yard.memory.graph, "clear_due", slowly)
    yard.wake("t0")
    assert list(yard.memory.dispatches.refs) == [yard.run_of("t3")]
    assert yard.state("t3") is TaskState.SKIPPED
    assert yard.state("t4") is TaskState.WAITING
    assert yard.memory.state.tasks[yard.job.task("t3")].due_at_ms is not None
    yard.work_off()
    assert yard.job_state() is JobState.FAILED
    assert yard.told()["Task Skipped"] == 29


def test_what_was_sent_directly_is_followed_even_if_it_is_not_due(yard: Yard) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a", times=0)
    yard.memory.graph.clear_due(yard.memory.state.tasks[yard.job.task("a")])
    yard.wake("a", by_event=True)
    assert yard.state("b") is TaskState.WAITING
    yard.wake("a", by_event=False)
    assert yard.state("b") is TaskState.QUEUED


@pytest.mark.parametrize("by_event", [True, False])
def test_a_ready_task_that_was_sent_directly_is_started(yard: Yard, by_event: bool) -> None:
    yard.start({"a": []})
    assert yard.queued() == {"a"}
    ready = replace(yard.memory.state.tasks[yard.job.task("a")], state=TaskState.READY)
    yard.memory.state.tasks[ready.ref] = ready
    yard.wake("a", by_event=by_event)
    assert yard.queued() == (set() if by_event else {"a"})


def test_one_unknown_task_stops_the_others_before_anything_happens(yard: Yard) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a", times=0)
    with pytest.raises(UnknownTask):
        yard.wake("a", "nobody")
    assert yard.state("b") is TaskState.WAITING


class Flagging:
    """Somebody flags the task just before it is decided."""

    def __init__(self, yard: Yard, *, times: int) -> None:
        self._yard = yard
        self._decide = yard.memory.graph.decide
        self._times = times

    def __call__(self, task: Task, verdict: Verdict, *, now_ms: int) -> Task:
        if self._times:
            self._times -= 1
            stored = self._yard.memory.state.tasks[task.ref]
            flagged = replace(stored, cancel_requested=not stored.cancel_requested)
            self._yard.memory.state.tasks[task.ref] = flagged
        return self._decide(task, verdict, now_ms=now_ms)


def test_a_task_that_is_flagged_while_it_is_decided_is_decided_anew(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": ["a"]})
    monkeypatch.setattr(yard.memory.graph, "decide", Flagging(yard, times=1))
    yard.settle("a")
    assert yard.state("b") is TaskState.CANCELLED
    assert yard.told()["Task Cancelled"] == 1
    assert yard.told()["Task Pending"] == 1


def test_a_task_that_never_holds_still_is_left_for_later(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": ["a"]})
    monkeypatch.setattr(yard.memory.graph, "decide", Flagging(yard, times=99))
    with pytest.raises(Unavailable):
        yard.settle("a")
    assert yard.memory.state.tasks[yard.job.task("a")].due_at_ms is not None


@pytest.mark.parametrize("state", [JobState.CANCELLING, JobState.REDRIVING])
def test_a_job_in_the_middle_of_something_is_settled_later(yard: Yard, state: JobState) -> None:
    yard.start({"a": []})
    opened = yard.memory.state.jobs[yard.job]
    yard.memory.state.jobs[yard.job] = replace(opened, state=state)
    yard.settle("a")
    assert yard.state(END) is TaskState.COMPLETED
    assert yard.memory.state.tasks[yard.job.task(END)].due_at_ms is not None
    assert yard.job_state() is state
    yard.memory.state.jobs[yard.job] = opened
    yard.wake(END, by_event=False)
    assert yard.job_state() is JobState.COMPLETED
    assert yard.memory.state.tasks[yard.job.task(END)].due_at_ms is None


def test_an_end_that_was_reopened_since_it_was_read_ends_nothing(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": []})
    yard.settle("a", times=0)
    picture = yard.memory.jobs.picture

    def reopened(ref: Any) -> Any:
        end = yard.memory.state.tasks[yard.job.task(END)]
        waiting = replace(end, state=TaskState.WAITING, run=2, fence=end.fence + 1)
        yard.memory.state.tasks[end.ref] = replace(waiting, waiting_on=frozenset({"a@2"}))
        return picture(ref)

    monkeypatch.setattr(yard.memory.jobs, "picture", reopened)
    yard.wake("a")
    assert yard.job_state() is JobState.OPEN
    assert "Job Completed" not in yard.told()


def test_a_job_that_ends_before_its_redrive_was_cleared_is_gone_on_with(yard: Yard) -> None:
    yard.start({"a": []})
    job = replace(yard.memory.state.jobs[yard.job], redrive_key="task/redrives/a.json")
    yard.memory.state.jobs[yard.job] = job
    yard.settle("a")
    assert yard.job_state() is JobState.COMPLETED
    assert list(yard.memory.dispatches.refs) == [yard.job]


@pytest.mark.parametrize("by_event", [True, False])
def test_a_wake_up_of_an_earlier_run_leaves_a_task_alone(yard: Yard, by_event: bool) -> None:
    """It may have ended again, and nobody told yet: its due time says so."""
    yard.start({"a": [], "b": ["a"]})
    earlier = yard.run_of("a")
    yard.settle("a", times=0)
    again = replace(yard.memory.state.tasks[earlier.ref], run=2)
    yard.memory.state.tasks[earlier.ref] = again
    yard.dispatcher.dispatch([earlier], until=yard.until, woken_by_event=by_event)
    assert yard.memory.state.tasks[earlier.ref] == again
    yard.dispatcher.dispatch([again.this_run], until=yard.until, woken_by_event=by_event)
    assert yard.memory.state.tasks[earlier.ref].due_at_ms is None
