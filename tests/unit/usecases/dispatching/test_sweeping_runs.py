"""One run of the sweeper: beside another one, within its bounds, through trouble."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import Event
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.ids import DUE_SHARDS, END, TaskRef
from switchyard.domain.jobs.job import NextStep
from switchyard.domain.jobs.overdue import Action
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload, Task
from switchyard.ports import PageOfOverdue
from switchyard.usecases.dispatching.sweep import Nudge
from tests.builders import a_plan
from tests.fakes.harnesses.swept_harness import CHAIN, HOUR, MINUTE, SweptHarness, actions
from tests.fakes.steps import Steps


@pytest.fixture
def harness() -> SweptHarness:
    return SweptHarness()


class Interrupting:
    """The bus, during whose call a second sweeper runs from beginning to end."""

    def __init__(self, harness: SweptHarness) -> None:
        self._harness = harness
        self._put = harness.memory.bus.put
        self.meanwhile: list[Nudge] | None = None

    def __call__(self, events: Sequence[Event]) -> None:
        if self.meanwhile is None:
            self.meanwhile = []
            self.meanwhile += self._harness.sweep()
        self._put(events)


def test_two_sweeps_at_once_do_not_do_a_thing_twice(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(CHAIN)
    harness.settle("a")
    harness.settle("b", times=0)
    other = Interrupting(harness)
    monkeypatch.setattr(harness.memory.bus, "put", other)
    assert actions(harness.sweep(after=MINUTE)) == {"b": Action.DISPATCH}
    assert other.meanwhile == []
    assert harness.job_state() is JobState.COMPLETED
    assert harness.emitted()["Job Completed"] == 1


def test_a_due_time_that_another_moved_is_left(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(CHAIN)
    harness.queued()
    find = harness.memory.graph.find
    raced: list[object] = []

    def find_and_lose(ref: object) -> Task | None:
        task = find(ref)  # type: ignore[arg-type]
        if not raced:
            raced.append(ref)
            raced.extend(harness.sweep())
        return task

    monkeypatch.setattr(harness.memory.graph, "find", find_and_lose)
    (nudge,) = harness.sweep(after=6 * MINUTE)
    assert (nudge.action, nudge.reason) == (Action.LEAVE, "another process was faster")
    assert harness.queued() == {"a"}
    assert harness.task("a").resends == 1


def test_a_waiting_task_that_nobody_would_wake_is_found_by_the_audit(harness: SweptHarness) -> None:
    harness.start(CHAIN)
    harness.settle("a", times=0)
    harness.memory.graph.clear_due(harness.task("a"))
    assert harness.sweep(after=HOUR - 1) == []
    assert actions(harness.sweep(after=1)) == {"the job": Action.AUDIT}
    assert harness.state("b") is TaskState.QUEUED
    job = harness.memory.jobs.find(harness.job)
    assert job is not None
    assert job.due_at_ms == harness.clock.now_ms() + HOUR * 1000


def test_a_half_written_job_is_abandoned(harness: SweptHarness) -> None:
    harness.memory.intake.write(a_plan())
    assert actions(harness.sweep(after=5 * MINUTE)) == {"the job": Action.ABANDON}
    assert harness.sweep(after=HOUR) == []
    assert harness.memory.bus.events == []


def test_a_run_looks_at_no_more_than_its_limit(harness: SweptHarness) -> None:
    harness.start({f"t{n}": [] for n in range(40)})
    looked_at = [len(harness.sweep(after=6 * MINUTE, at_most=25))]
    looked_at.append(len(harness.sweep(at_most=25)))
    assert looked_at == [25, 15]


def test_a_run_ends_when_its_time_is_over(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({f"t{n}": [] for n in range(40)})
    harness.clock.advance(6 * MINUTE)
    find = harness.memory.graph.find

    def find_slowly(ref: object) -> Task | None:
        harness.clock.advance(5)
        return find(ref)  # type: ignore[arg-type]

    monkeypatch.setattr(harness.memory.graph, "find", find_slowly)
    assert len(harness.sweep()) == 4


def test_what_a_slow_clock_hid_is_found_once_the_first_answer_has_corrected_it(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({f"t{n}": [] for n in range(40)})
    page, asked = harness.memory.overdue.page, list[int]()

    def first_answer(shard: int, **query: Any) -> PageOfOverdue:
        found = page(shard, **query)
        if not asked:
            harness.clock.advance(6 * MINUTE)
        asked.append(shard)
        return found

    monkeypatch.setattr(harness.memory.overdue, "page", first_answer)
    monkeypatch.setattr(harness.clock, "monotonic", lambda: 0.0)  # no time passes
    assert len(harness.sweep()) == 40
    assert len(asked) == DUE_SHARDS + 1


def test_one_bad_thing_does_not_hold_up_the_others(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": ["a"], "c": [], "d": ["c"]})
    harness.settle("a", times=0)
    harness.settle("c", times=0)
    read = harness.memory.payloads.read

    def read_some(ref: TaskRef) -> Payload:
        if ref == harness.job.task("a"):
            raise Rejected("a's output cannot be read")
        return read(ref)

    monkeypatch.setattr(harness.memory.payloads, "read", read_some)
    nudges = {n.ref: n.error for n in harness.sweep(after=MINUTE)}
    assert nudges == {
        harness.job.task("c"): None,
        harness.job.task("a"): "a's output cannot be read",
    }
    assert harness.state("d") is TaskState.QUEUED
    assert harness.task("a").due_at_ms is not None


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        ({"state": JobState.WRITING, "document_key": "task/documents/a.json"}, NextStep.EXPAND),
        ({"state": JobState.CANCELLING}, NextStep.CANCEL),
        ({"state": JobState.REDRIVING, "redrive_key": "task/redrives/a.json"}, NextStep.REDRIVE),
        ({"state": JobState.OPEN, "redrive_key": "task/redrives/a.json"}, NextStep.REDRIVE),
    ],
)
def test_a_job_that_is_in_the_middle_of_something_is_gone_on_with(
    harness: SweptHarness, facts: dict[str, Any], step: NextStep
) -> None:
    harness.start(CHAIN)
    due_at_ms = harness.clock.now_ms() + 5 * MINUTE * 1000
    stored = replace(harness.memory.state.jobs[harness.job], due_at_ms=due_at_ms, **facts)
    harness.memory.state.jobs[harness.job] = stored
    harness.steps[step] = steps = Steps(finished_after=3)
    nudges = harness.sweep(after=5 * MINUTE)
    assert actions(nudges)["the job"] is Action.ADVANCE
    assert steps.taken == [harness.job] * 3
    assert harness.memory.state.jobs[harness.job].due_at_ms == due_at_ms + 5 * MINUTE * 1000


def test_an_outage_ends_the_run_and_the_next_one_goes_on(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(CHAIN)
    harness.settle("a")
    harness.settle("b", times=0)

    def unavailable(events: object) -> None:
        raise Unavailable("the bus does not answer")

    with monkeypatch.context() as down:
        down.setattr(harness.memory.bus, "put", unavailable)
        with pytest.raises(Unavailable):
            harness.sweep(after=MINUTE)
    assert harness.job_state() is JobState.OPEN
    harness.sweep(after=2 * MINUTE)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.state(END) is TaskState.COMPLETED
