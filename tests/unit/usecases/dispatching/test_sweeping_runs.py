"""One run of the sweeper: beside another one, within its bounds, through trouble."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import Event
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.ids import DUE_SHARDS, END, TaskRef
from switchyard.domain.jobs.advancing import NextStep
from switchyard.domain.jobs.sweeping import Action
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload, Task
from switchyard.ports import PageOfOverdue
from switchyard.usecases.dispatching.sweep import Nudge
from tests.builders import a_plan
from tests.fakes.steps import Steps
from tests.fakes.swept_yard import CHAIN, HOUR, MINUTE, SweptYard, actions


@pytest.fixture
def yard() -> SweptYard:
    return SweptYard()


class Interrupting:
    """The bus, during whose call a second sweeper runs from beginning to end."""

    def __init__(self, yard: SweptYard) -> None:
        self._yard = yard
        self._put = yard.memory.bus.put
        self.meanwhile: list[Nudge] | None = None

    def __call__(self, events: Sequence[Event]) -> None:
        if self.meanwhile is None:
            self.meanwhile = []
            self.meanwhile += self._yard.sweep()
        self._put(events)


def test_two_sweeps_at_once_do_not_do_a_thing_twice(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.settle("a")
    yard.settle("b", times=0)
    other = Interrupting(yard)
    monkeypatch.setattr(yard.memory.bus, "put", other)
    assert actions(yard.sweep(after=MINUTE)) == {"b": Action.DISPATCH}
    assert other.meanwhile == []
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told()["Job Completed"] == 1


def test_whoever_moves_the_due_time_later_leaves_it(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.queued()
    find = yard.memory.graph.find
    raced: list[object] = []

    def find_and_lose(ref: object) -> Task | None:
        task = find(ref)  # type: ignore[arg-type]
        if not raced:
            raced.append(ref)
            raced.extend(yard.sweep())
        return task

    monkeypatch.setattr(yard.memory.graph, "find", find_and_lose)
    (nudge,) = yard.sweep(after=6 * MINUTE)
    assert (nudge.action, nudge.reason) == (Action.LEAVE, "somebody was faster")
    assert yard.queued() == {"a"}
    assert yard.task("a").resends == 1


def test_a_waiting_task_that_nobody_would_wake_is_found_by_the_audit(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.settle("a", times=0)
    yard.memory.graph.clear_due(yard.task("a"))
    assert yard.sweep(after=HOUR - 1) == []
    assert actions(yard.sweep(after=1)) == {"the job": Action.AUDIT}
    assert yard.state("b") is TaskState.QUEUED
    job = yard.memory.jobs.find(yard.job)
    assert job is not None
    assert job.due_at_ms == yard.clock.now_ms() + HOUR * 1000


def test_a_half_written_job_is_abandoned(yard: SweptYard) -> None:
    yard.memory.intake.write(a_plan())
    assert actions(yard.sweep(after=5 * MINUTE)) == {"the job": Action.ABANDON}
    assert yard.sweep(after=HOUR) == []
    assert yard.memory.bus.events == []


def test_a_run_looks_at_no_more_than_it_is_told(yard: SweptYard) -> None:
    yard.start({f"t{n}": [] for n in range(40)})
    looked_at = [len(yard.sweep(after=6 * MINUTE, at_most=25))]
    looked_at.append(len(yard.sweep(at_most=25)))
    assert looked_at == [25, 15]


def test_a_run_ends_when_its_time_is_over(yard: SweptYard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.start({f"t{n}": [] for n in range(40)})
    yard.clock.advance(6 * MINUTE)
    find = yard.memory.graph.find

    def find_slowly(ref: object) -> Task | None:
        yard.clock.advance(5)
        return find(ref)  # type: ignore[arg-type]

    monkeypatch.setattr(yard.memory.graph, "find", find_slowly)
    assert len(yard.sweep()) == 4


def test_what_a_slow_clock_hid_is_found_once_the_first_answer_has_corrected_it(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({f"t{n}": [] for n in range(40)})
    page, asked = yard.memory.overdue.page, list[int]()

    def first_answer(shard: int, **query: Any) -> PageOfOverdue:
        found = page(shard, **query)
        if not asked:
            yard.clock.advance(6 * MINUTE)
        asked.append(shard)
        return found

    monkeypatch.setattr(yard.memory.overdue, "page", first_answer)
    monkeypatch.setattr(yard.clock, "monotonic", lambda: 0.0)  # no time passes
    assert len(yard.sweep()) == 40
    assert len(asked) == DUE_SHARDS + 1


def test_one_bad_thing_does_not_hold_up_the_others(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": ["a"], "c": [], "d": ["c"]})
    yard.settle("a", times=0)
    yard.settle("c", times=0)
    read = yard.memory.payloads.read

    def read_some(ref: TaskRef) -> Payload:
        if ref == yard.job.task("a"):
            raise Rejected("a's output cannot be read")
        return read(ref)

    monkeypatch.setattr(yard.memory.payloads, "read", read_some)
    nudges = {n.ref: n.error for n in yard.sweep(after=MINUTE)}
    assert nudges == {
        yard.job.task("c"): None,
        yard.job.task("a"): "a's output cannot be read",
    }
    assert yard.state("d") is TaskState.QUEUED
    assert yard.task("a").due_at_ms is not None


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
    yard: SweptYard, facts: dict[str, Any], step: NextStep
) -> None:
    yard.start(CHAIN)
    due_at_ms = yard.clock.now_ms() + 5 * MINUTE * 1000
    stored = replace(yard.memory.state.jobs[yard.job], due_at_ms=due_at_ms, **facts)
    yard.memory.state.jobs[yard.job] = stored
    yard.steps[step] = steps = Steps(finished_after=3)
    nudges = yard.sweep(after=5 * MINUTE)
    assert actions(nudges)["the job"] is Action.ADVANCE
    assert steps.taken == [yard.job] * 3
    assert yard.memory.state.jobs[yard.job].due_at_ms == due_at_ms + 5 * MINUTE * 1000


def test_an_outage_ends_the_run_and_the_next_one_goes_on(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.settle("a")
    yard.settle("b", times=0)

    def unavailable(events: object) -> None:
        raise Unavailable("the bus does not answer")

    with monkeypatch.context() as down:
        down.setattr(yard.memory.bus, "put", unavailable)
        with pytest.raises(Unavailable):
            yard.sweep(after=MINUTE)
    assert yard.job_state() is JobState.OPEN
    yard.sweep(after=2 * MINUTE)
    assert yard.job_state() is JobState.COMPLETED
    assert yard.state(END) is TaskState.COMPLETED
