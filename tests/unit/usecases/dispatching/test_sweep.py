"""The sweeper, on in-memory twins: whatever was lost, the job still comes to its end."""

from contextlib import suppress
from dataclasses import replace

import pytest

from switchyard.domain.errors import MissingBlob
from switchyard.domain.ids import START, TaskRef
from switchyard.domain.jobs.sweeping import Action
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload
from tests.builders import DIAMOND
from tests.fakes.swept_yard import CHAIN, MINUTE, SweptYard, actions
from tests.fakes.yard import COMPLETED, FAILED, Crash, Yard, crashing


@pytest.fixture
def yard() -> SweptYard:
    return SweptYard()


def lost_at(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> pytest.MonkeyPatch:
    target = getattr(yard.memory, part)
    monkeypatch.setattr(target, method, crashing(getattr(target, method), after=after))
    return monkeypatch


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("graph", "remove_edges"),
        ("graph", "decide"),
        ("graph", "mark_queued"),
        ("graph", "clear_due"),
        ("queue", "send"),
        ("bus", "put"),
        ("jobs", "settle"),
    ],
)
def test_a_crash_at_any_step_is_mended_by_sweeping_alone(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    yard.open(CHAIN)
    with monkeypatch.context() as broken, suppress(Crash):
        lost_at(yard, broken, part, method, after)
        yard.wake(START)
    yard.sweep(after=2 * MINUTE)
    for task_id in CHAIN:
        with monkeypatch.context() as broken, suppress(Crash):
            lost_at(yard, broken, part, method, after)
            yard.settle(task_id)
        yard.sweep(after=2 * MINUTE)
    assert yard.job_state() is JobState.COMPLETED
    told = yard.told()
    assert (told["Job Created"], told["Task Pending"], told["Job Completed"]) == (1, 2, 1)
    assert told["Task Completed"] <= len(CHAIN)
    assert [t.ref for t in yard.memory.state.tasks.values() if t.due_at_ms is not None] == []


def test_a_job_nobody_heard_of_runs_to_its_end_by_sweeping_alone(yard: SweptYard) -> None:
    yard.open(DIAMOND)
    yard.memory.bus.events.clear()
    yard.sweep(after=2 * MINUTE)
    for task_id in DIAMOND:
        yard.settle(task_id, times=0)
        yard.sweep(after=2 * MINUTE)
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told()["Task Completed"] == len(DIAMOND)
    (created,) = [e for e in yard.memory.bus.events if e.event_type == "Job Created"]
    tasks = created.detail()["properties"]["tasks"]
    assert {t["taskId"]: t["dependsOn"] for t in tasks} == DIAMOND
    assert {t["taskId"]: t["input"] for t in tasks} == {t: {"for": t} for t in DIAMOND}


def test_the_event_of_a_settled_task_is_told_with_its_output(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.settle("a", times=0)
    (nudge,) = yard.sweep(after=MINUTE)
    assert (nudge.ref, nudge.action) == (yard.job.task("a"), Action.DISPATCH)
    (told,) = [e for e in yard.memory.bus.events if e.event_type == "Task Completed"]
    assert told.detail()["properties"]["output"] == {"of": "a"}
    assert yard.state("b") is TaskState.QUEUED


def test_what_a_failure_skipped_is_told_and_followed(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.settle("a", FAILED, times=0)
    yard.sweep(after=MINUTE)
    told = yard.told()
    assert (told["Task Failed"], told["Task Skipped"], told["Job Failed"]) == (1, 1, 1)


def test_a_ready_task_is_told_sent_and_marked_queued(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.open(CHAIN)
    with monkeypatch.context() as broken, suppress(Crash):
        lost_at(yard, broken, "graph", "decide", after=True)
        yard.wake(START)
    yard.memory.graph.clear_due(yard.task(START))
    assert actions(yard.sweep(after=MINUTE)) == {"a": Action.START}
    assert yard.queued() == {"a"}
    assert yard.state("a") is TaskState.QUEUED
    assert yard.told()["Task Pending"] == 1


def test_a_live_lease_is_not_disturbed(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.queued()
    claimed = yard.claim("a")
    sent = yard.memory.queue.waiting
    yard.clock.advance(MINUTE)
    until_ms = yard.clock.now_ms() + 45_000
    renewed = yard.memory.leases.renew(claimed.lease, lease_until_ms=until_ms)
    assert actions(yard.sweep()) == {"a": Action.WAIT}
    assert yard.task("a") == replace(renewed, due_at_ms=until_ms + 30_000)
    assert yard.memory.queue.waiting == sent
    assert yard.sweep() == []
    yard.memory.leases.settle(claimed.lease, COMPLETED, output=1, now_ms=yard.clock.now_ms())


def test_a_lapsed_lease_wakes_a_worker(yard: SweptYard) -> None:
    yard.start(CHAIN)
    yard.queued()
    yard.claim("a")
    assert actions(yard.sweep(after=MINUTE)) == {"a": Action.WAKE}
    assert yard.queued() == {"a"}
    assert yard.claim("a").task.attempt == 2


def test_a_lost_message_is_sent_again_and_ever_less_often(yard: SweptYard) -> None:
    yard.start(CHAIN)
    assert yard.queued() == {"a"}
    resent_after = []
    for minute in range(1, 61):
        nudges = yard.sweep(after=MINUTE)
        resent_after += [minute for n in nudges if n.action is Action.RESEND]
    assert resent_after == [5, 15, 35]
    assert yard.task("a").resends == 3


def test_an_output_that_has_expired_is_told_of_and_holds_up_nothing(
    yard: SweptYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start(CHAIN)
    yard.settle("a", times=0)

    def gone(_ref: TaskRef) -> Payload:
        raise MissingBlob("a's result")

    monkeypatch.setattr(yard.memory.payloads, "read", gone)
    (nudge,) = yard.sweep(after=MINUTE)
    assert "a's result" in (nudge.error or "")
    assert yard.state("b") is TaskState.QUEUED
