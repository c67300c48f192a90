"""The dispatcher, on in-memory twins: what follows when a task settles."""

from collections.abc import Sequence
from contextlib import suppress

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import END, START, split_request_id
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Outcome
from tests.builders import DIAMOND, NOW_MS
from tests.fakes.harnesses.job_harness import COMPLETED, FAILED, Crash, Harness, crashing


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_a_new_job_queues_its_roots_and_nothing_else(harness: Harness) -> None:
    harness.start(DIAMOND)
    assert harness.queued() == {"scrape-store", "analyze-competitors"}
    assert harness.state("color-tags") is TaskState.WAITING
    assert harness.emitted() == {"Job Created": 1, "Task Pending": 2}


def test_a_child_is_queued_when_its_last_parent_completes(harness: Harness) -> None:
    harness.start(DIAMOND)
    harness.settle("scrape-store")
    harness.settle("color-tags")
    assert harness.state("compile-result") is TaskState.WAITING
    harness.settle("font-pairing")
    assert harness.state("compile-result") is TaskState.QUEUED


def test_the_job_completes_when_every_task_has(harness: Harness) -> None:
    harness.start(DIAMOND)
    for task_id in DIAMOND:
        assert harness.job_state() is JobState.OPEN
        harness.settle(task_id)
    assert harness.job_state() is JobState.COMPLETED
    assert harness.emitted() == {"Job Created": 1, "Task Pending": 5, "Job Completed": 1}


@pytest.mark.parametrize("by_event", [True, False])
def test_waking_it_again_changes_nothing_and_emits_no_new_event(
    harness: Harness, by_event: bool
) -> None:
    harness.start(DIAMOND)
    harness.wake(START, by_event=by_event)
    for task_id in DIAMOND:
        harness.settle(task_id)
        harness.wake(task_id, by_event=by_event)
        harness.wake(END, by_event=by_event)
    assert harness.emitted() == {"Job Created": 1, "Task Pending": 5, "Job Completed": 1}


def test_a_failure_skips_what_follows_and_spares_the_other_branches(harness: Harness) -> None:
    harness.start(DIAMOND)
    harness.settle("scrape-store", FAILED)
    assert harness.state("color-tags") is TaskState.SKIPPED
    assert harness.state("compile-result") is TaskState.SKIPPED
    assert harness.job_state() is JobState.OPEN
    harness.settle("analyze-competitors")
    assert harness.job_state() is JobState.FAILED
    emitted = harness.emitted()
    assert emitted["Job Failure Detected"] == 1
    assert emitted["Task Skipped"] == 3
    assert emitted["Job Failed"] == 1


def test_a_long_skipped_chain_wakes_the_dispatcher_once_per_task(harness: Harness) -> None:
    chain = {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(30)}
    harness.start(chain)
    harness.settle("t0", FAILED, times=0)
    woken, heard = ["t0"], len(harness.memory.bus.events)
    for task_id in woken:
        assert len(woken) <= len(chain)
        harness.wake(task_id)
        emitted, heard = harness.memory.bus.events[heard:], len(harness.memory.bus.events)
        skipped = [event for event in emitted if event.event_type == "Task Skipped"]
        woken += [split_request_id(event.entity_id)[1] for event in skipped]
    assert len(woken) == len(chain)
    assert harness.job_state() is JobState.FAILED


def test_only_the_first_of_two_failures_is_emitted(harness: Harness) -> None:
    harness.start({"a": [], "b": []})
    harness.settle("a", FAILED)
    harness.settle("b", FAILED)
    assert harness.emitted()["Job Failure Detected"] == 1


@pytest.mark.parametrize(
    ("rule", "outcome", "expected"),
    [
        (Rule.ALL_SETTLED, FAILED, TaskState.QUEUED),
        (Rule.ALL_SETTLED, COMPLETED, TaskState.QUEUED),
        (Rule.ANY_FAILED, FAILED, TaskState.QUEUED),
        (Rule.ANY_FAILED, COMPLETED, TaskState.SKIPPED),
        (Rule.ALL_COMPLETED, FAILED, TaskState.SKIPPED),
    ],
)
def test_a_rule_decides_what_follows(
    harness: Harness, rule: Rule, outcome: Outcome, expected: TaskState
) -> None:
    harness.start({"a": [], "b": ["a"]}, b=rule)
    harness.settle("a", outcome)
    assert harness.state("b") is expected


def test_a_skip_is_no_failure(harness: Harness) -> None:
    harness.start({"a": [], "b": ["a"]}, b=Rule.ANY_FAILED)
    harness.settle("a")
    assert harness.job_state() is JobState.COMPLETED


def test_a_task_that_has_not_settled_moves_nothing(harness: Harness) -> None:
    harness.start(DIAMOND)
    harness.wake("scrape-store")
    assert harness.state("color-tags") is TaskState.WAITING


def test_an_unknown_task_is_an_error(harness: Harness) -> None:
    harness.start(DIAMOND)
    with pytest.raises(UnknownTask):
        harness.wake("nobody")


def test_what_a_worker_settled_stays_due_until_its_own_event_comes(harness: Harness) -> None:
    harness.start({"a": [], "b": ["a"]})
    harness.settle("a")
    harness.settle("b", times=0)
    harness.wake("a", by_event=False)
    settled = harness.memory.graph.find(harness.job.task("b"))
    assert settled is not None
    assert settled.due_at_ms is not None
    assert harness.job_state() is JobState.OPEN


def test_the_event_of_a_queued_task_is_emitted_before_a_fast_worker_claims_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = harness.memory.queue.send

    def send_and_claim(messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        send(messages, delay_seconds=delay_seconds)
        for message in messages:
            harness.memory.leases.claim(message.ref, owner="w", now_ms=NOW_MS, lease_ms=9999)
        raise Crash

    monkeypatch.setattr(harness.memory.queue, "send", send_and_claim)
    with pytest.raises(Crash):
        harness.start({"a": []})
    harness.wake(START)
    assert harness.emitted()["Task Pending"] == 1


def test_the_event_of_the_first_failure_is_the_same_whenever_it_is_emitted(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": ["a"], "c": []})
    with monkeypatch.context() as broken, suppress(Crash):
        graph = harness.memory.graph
        broken.setattr(graph, "clear_due", crashing(graph.clear_due, after=False))
        harness.settle("a", FAILED)
    harness.settle("c")
    harness.wake("a", by_event=False)
    first, again = (e for e in harness.memory.bus.events if e.event_type == "Job Failure Detected")
    assert first == again
    assert first.detail()["properties"]["taskStatuses"] == {"a": "failed"}


def test_dispatched_tasks_are_no_longer_due(harness: Harness) -> None:
    harness.start(DIAMOND)
    for task_id in DIAMOND:
        harness.settle(task_id)
    left = [t.ref.task_id for t in harness.memory.state.tasks.values() if t.due_at_ms is not None]
    assert left == []


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
def test_a_crash_at_any_step_is_mended_by_the_next_wake_up(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    harness.start({"a": [], "b": ["a"]})
    for task_id in ("a", "b"):
        with monkeypatch.context() as broken:
            target = getattr(harness.memory, part)
            broken.setattr(target, method, crashing(getattr(target, method), after=after))
            with suppress(Crash):
                harness.settle(task_id)
        harness.wake(task_id)
        harness.wake("__end__")
    assert harness.job_state() is JobState.COMPLETED
    assert harness.emitted() == {"Job Created": 1, "Task Pending": 2, "Job Completed": 1}
