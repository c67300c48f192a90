"""The sweeper, on in-memory twins: whatever was lost, the job still comes to its end."""

from contextlib import suppress
from dataclasses import replace

import pytest

from switchyard.domain.errors import MissingBlob
from switchyard.domain.ids import START, TaskRef
from switchyard.domain.jobs.overdue import Action
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload
from tests.builders import DIAMOND
from tests.fakes.harnesses.job_harness import COMPLETED, FAILED, Crash, Harness, crashing
from tests.fakes.harnesses.swept_harness import CHAIN, MINUTE, SweptHarness, actions


@pytest.fixture
def harness() -> SweptHarness:
    return SweptHarness()


def lost_at(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> pytest.MonkeyPatch:
    target = getattr(harness.memory, part)
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
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    harness.open(CHAIN)
    with monkeypatch.context() as broken, suppress(Crash):
        lost_at(harness, broken, part, method, after)
        harness.wake(START)
    harness.sweep(after=2 * MINUTE)
    for task_id in CHAIN:
        with monkeypatch.context() as broken, suppress(Crash):
            lost_at(harness, broken, part, method, after)
            harness.settle(task_id)
        harness.sweep(after=2 * MINUTE)
    assert harness.job_state() is JobState.COMPLETED
    emitted = harness.emitted()
    assert (emitted["Job Created"], emitted["Task Pending"], emitted["Job Completed"]) == (1, 2, 1)
    assert emitted["Task Completed"] <= len(CHAIN)
    assert [t.ref for t in harness.memory.state.tasks.values() if t.due_at_ms is not None] == []


def test_a_job_nobody_heard_of_runs_to_its_end_by_sweeping_alone(harness: SweptHarness) -> None:
    harness.open(DIAMOND)
    harness.memory.bus.events.clear()
    harness.sweep(after=2 * MINUTE)
    for task_id in DIAMOND:
        harness.settle(task_id, times=0)
        harness.sweep(after=2 * MINUTE)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.emitted()["Task Completed"] == len(DIAMOND)
    (created,) = [e for e in harness.memory.bus.events if e.event_type == "Job Created"]
    tasks = created.detail()["properties"]["tasks"]
    assert {t["taskId"]: t["dependsOn"] for t in tasks} == DIAMOND
    assert {t["taskId"]: t["input"] for t in tasks} == {t: {"for": t} for t in DIAMOND}


def test_the_event_of_a_settled_task_is_emitted_with_its_output(harness: SweptHarness) -> None:
    harness.start(CHAIN)
    harness.settle("a", times=0)
    (nudge,) = harness.sweep(after=MINUTE)
    assert (nudge.ref, nudge.action) == (harness.job.task("a"), Action.DISPATCH)
    (emitted,) = [e for e in harness.memory.bus.events if e.event_type == "Task Completed"]
    assert emitted.detail()["properties"]["output"] == {"of": "a"}
    assert harness.state("b") is TaskState.QUEUED


def test_a_skipped_task_is_emitted_and_followed(harness: SweptHarness) -> None:
    harness.start(CHAIN)
    harness.settle("a", FAILED, times=0)
    harness.sweep(after=MINUTE)
    emitted = harness.emitted()
    assert (emitted["Task Failed"], emitted["Task Skipped"], emitted["Job Failed"]) == (1, 1, 1)


def test_a_ready_task_is_emitted_sent_and_marked_queued(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.open(CHAIN)
    with monkeypatch.context() as broken, suppress(Crash):
        lost_at(harness, broken, "graph", "decide", after=True)
        harness.wake(START)
    harness.memory.graph.clear_due(harness.task(START))
    assert actions(harness.sweep(after=MINUTE)) == {"a": Action.START}
    assert harness.queued() == {"a"}
    assert harness.state("a") is TaskState.QUEUED
    assert harness.emitted()["Task Pending"] == 1


def test_a_live_lease_is_not_disturbed(harness: SweptHarness) -> None:
    harness.start(CHAIN)
    harness.queued()
    claimed = harness.claim("a")
    sent = harness.memory.queue.waiting
    harness.clock.advance(MINUTE)
    until_ms = harness.clock.now_ms() + 45_000
    renewed = harness.memory.leases.renew(claimed.lease, lease_until_ms=until_ms)
    assert actions(harness.sweep()) == {"a": Action.WAIT}
    assert harness.task("a") == replace(renewed, due_at_ms=until_ms + 30_000)
    assert harness.memory.queue.waiting == sent
    assert harness.sweep() == []
    harness.memory.leases.settle(claimed.lease, COMPLETED, output=1, now_ms=harness.clock.now_ms())


def test_a_lapsed_lease_wakes_a_worker(harness: SweptHarness) -> None:
    harness.start(CHAIN)
    harness.queued()
    harness.claim("a")
    assert actions(harness.sweep(after=MINUTE)) == {"a": Action.WAKE}
    assert harness.queued() == {"a"}
    assert harness.claim("a").task.attempt == 2


def test_a_lost_message_is_sent_again_and_ever_less_often(harness: SweptHarness) -> None:
    harness.start(CHAIN)
    assert harness.queued() == {"a"}
    resent_after = []
    for minute in range(1, 61):
        nudges = harness.sweep(after=MINUTE)
        resent_after += [minute for n in nudges if n.action is Action.RESEND]
    assert resent_after == [5, 15, 35]
    assert harness.task("a").resends == 3


def test_an_output_that_has_expired_is_logged_and_holds_up_nothing(
    harness: SweptHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(CHAIN)
    harness.settle("a", times=0)

    def gone(_ref: TaskRef) -> Payload:
        raise MissingBlob("a's result")

    monkeypatch.setattr(harness.memory.payloads, "read", gone)
    (nudge,) = harness.sweep(after=MINUTE)
    assert "a's result" in (nudge.error or "")
    assert harness.state("b") is TaskState.QUEUED
