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
from tests.fakes.yard import COMPLETED, FAILED, Crash, Yard, crashing


@pytest.fixture
def yard() -> Yard:
    return Yard()


def test_a_new_job_queues_its_roots_and_nothing_else(yard: Yard) -> None:
    yard.start(DIAMOND)
    assert yard.queued() == {"scrape-store", "analyze-competitors"}
    assert yard.state("color-tags") is TaskState.WAITING
    assert yard.told() == {"Job Created": 1, "Task Pending": 2}


def test_a_child_is_queued_when_its_last_parent_completes(yard: Yard) -> None:
    yard.start(DIAMOND)
    yard.settle("scrape-store")
    yard.settle("color-tags")
    assert yard.state("compile-result") is TaskState.WAITING
    yard.settle("font-pairing")
    assert yard.state("compile-result") is TaskState.QUEUED


def test_the_job_completes_when_every_task_has(yard: Yard) -> None:
    yard.start(DIAMOND)
    for task_id in DIAMOND:
        assert yard.job_state() is JobState.OPEN
        yard.settle(task_id)
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told() == {"Job Created": 1, "Task Pending": 5, "Job Completed": 1}


@pytest.mark.parametrize("by_event", [True, False])
def test_waking_it_again_changes_nothing_and_tells_nothing_new(yard: Yard, by_event: bool) -> None:
    yard.start(DIAMOND)
    yard.wake(START, by_event=by_event)
    for task_id in DIAMOND:
        yard.settle(task_id)
        yard.wake(task_id, by_event=by_event)
        yard.wake(END, by_event=by_event)
    assert yard.told() == {"Job Created": 1, "Task Pending": 5, "Job Completed": 1}


def test_a_failure_skips_what_follows_and_spares_the_other_branches(yard: Yard) -> None:
    yard.start(DIAMOND)
    yard.settle("scrape-store", FAILED)
    assert yard.state("color-tags") is TaskState.SKIPPED
    assert yard.state("compile-result") is TaskState.SKIPPED
    assert yard.job_state() is JobState.OPEN
    yard.settle("analyze-competitors")
    assert yard.job_state() is JobState.FAILED
    told = yard.told()
    assert told["Job Failure Detected"] == 1
    assert told["Task Skipped"] == 3
    assert told["Job Failed"] == 1


def test_a_long_skipped_chain_wakes_the_dispatcher_once_per_task(yard: Yard) -> None:
    chain = {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(30)}
    yard.start(chain)
    yard.settle("t0", FAILED, times=0)
    woken, heard = ["t0"], len(yard.memory.bus.events)
    for task_id in woken:
        assert len(woken) <= len(chain)
        yard.wake(task_id)
        told, heard = yard.memory.bus.events[heard:], len(yard.memory.bus.events)
        skipped = [event for event in told if event.event_type == "Task Skipped"]
        woken += [split_request_id(event.entity_id)[1] for event in skipped]
    assert len(woken) == len(chain)
    assert yard.job_state() is JobState.FAILED


def test_only_the_first_of_two_failures_is_told(yard: Yard) -> None:
    yard.start({"a": [], "b": []})
    yard.settle("a", FAILED)
    yard.settle("b", FAILED)
    assert yard.told()["Job Failure Detected"] == 1


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
    yard: Yard, rule: Rule, outcome: Outcome, expected: TaskState
) -> None:
    yard.start({"a": [], "b": ["a"]}, b=rule)
    yard.settle("a", outcome)
    assert yard.state("b") is expected


def test_a_skip_is_no_failure(yard: Yard) -> None:
    yard.start({"a": [], "b": ["a"]}, b=Rule.ANY_FAILED)
    yard.settle("a")
    assert yard.job_state() is JobState.COMPLETED


def test_a_task_that_has_not_settled_moves_nothing(yard: Yard) -> None:
    yard.start(DIAMOND)
    yard.wake("scrape-store")
    assert yard.state("color-tags") is TaskState.WAITING


def test_an_unknown_task_is_an_error(yard: Yard) -> None:
    yard.start(DIAMOND)
    with pytest.raises(UnknownTask):
        yard.wake("nobody")


def test_what_a_worker_settled_stays_due_until_its_own_event_comes(yard: Yard) -> None:
    yard.start({"a": [], "b": ["a"]})
    yard.settle("a")
    yard.settle("b", times=0)
    yard.wake("a", by_event=False)
    settled = yard.memory.graph.find(yard.job.task("b"))
    assert settled is not None
    assert settled.due_at_ms is not None
    assert yard.job_state() is JobState.OPEN


def test_a_task_that_a_fast_worker_took_was_told_before(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = yard.memory.queue.send

    def send_and_claim(messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        send(messages, delay_seconds=delay_seconds)
        for message in messages:
            yard.memory.leases.claim(message.ref, owner="w", now_ms=NOW_MS, lease_ms=9999)
        raise Crash

    monkeypatch.setattr(yard.memory.queue, "send", send_and_claim)
    with pytest.raises(Crash):
        yard.start({"a": []})
    yard.wake(START)
    assert yard.told()["Task Pending"] == 1


def test_the_first_failure_is_told_the_same_whenever_it_is_told(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": ["a"], "c": []})
    with monkeypatch.context() as broken, suppress(Crash):
        graph = yard.memory.graph
        broken.setattr(graph, "clear_due", crashing(graph.clear_due, after=False))
        yard.settle("a", FAILED)
    yard.settle("c")
    yard.wake("a", by_event=False)
    first, again = (e for e in yard.memory.bus.events if e.event_type == "Job Failure Detected")
    assert first == again
    assert first.detail()["properties"]["taskStatuses"] == {"a": "failed"}


def test_dispatched_tasks_are_no_longer_due(yard: Yard) -> None:
    yard.start(DIAMOND)
    for task_id in DIAMOND:
        yard.settle(task_id)
    left = [t.ref.task_id for t in yard.memory.state.tasks.values() if t.due_at_ms is not None]
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
    yard: Yard, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    yard.start({"a": [], "b": ["a"]})
    for task_id in ("a", "b"):
        with monkeypatch.context() as broken:
            target = getattr(yard.memory, part)
            broken.setattr(target, method, crashing(getattr(target, method), after=after))
            with suppress(Crash):
                yard.settle(task_id)
        yard.wake(task_id)
        yard.wake("__end__")
    assert yard.job_state() is JobState.COMPLETED
    assert yard.told() == {"Job Created": 1, "Task Pending": 2, "Job Completed": 1}
