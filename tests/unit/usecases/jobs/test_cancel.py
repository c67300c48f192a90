"""Cancelling jobs and tasks, on in-memory twins."""

from contextlib import suppress
from dataclasses import replace

import pytest

from switchyard.domain.errors import Conflict, NotNow, UnknownJob, UnknownTask
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Claimed
from tests.builders import DIAMOND, TENANT
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import Crash, crashing

CANCELLED = Outcome(state=TaskState.CANCELLED, error="cancellation was requested")
CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["b"]}


@pytest.fixture
def harness() -> ChangedHarness:
    return ChangedHarness()


def test_a_request_flips_the_job_and_wakes_the_dispatcher(harness: ChangedHarness) -> None:
    job = harness.start(CHAIN)
    answer = harness.cancels.request_cancel(job)
    assert (answer.job_id, answer.status, answer.cancel_requested) == (
        job.job_id,
        "cancelling",
        True,
    )
    assert harness.job_state() is JobState.CANCELLING
    assert list(harness.memory.dispatches.refs) == [job]


def test_asking_again_is_answered_the_same_until_the_job_has_settled(
    harness: ChangedHarness,
) -> None:
    job = harness.start(CHAIN)
    running = harness.claim("a")
    first = harness.cancels.request_cancel(job)
    assert harness.cancels.request_cancel(job) == first
    harness.deliver()
    assert harness.job_state() is JobState.OPEN
    assert harness.cancels.request_cancel(job) == first
    harness.end(running, CANCELLED)
    harness.deliver()
    with pytest.raises(Conflict, match="settled already: cancelled"):
        harness.cancels.request_cancel(job)


def test_asking_again_ends_what_was_handed_back_in_between(harness: ChangedHarness) -> None:
    job = harness.start({"a": []})
    running = harness.claim("a")
    harness.cancels.request_cancel(job)
    harness.deliver()
    now_ms = harness.clock.now_ms()
    harness.memory.leases.release(
        running.lease, not_before_ms=now_ms + 3_600_000, now_ms=now_ms, give_attempt_back=True
    )
    harness.cancels.request_cancel(job)
    harness.deliver()
    assert harness.states() == {"a": TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED


def test_what_nobody_runs_ends_at_once_and_the_rest_is_flagged(harness: ChangedHarness) -> None:
    harness.start(DIAMOND)
    running = harness.claim("scrape-store")
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert harness.states() == {
        "scrape-store": TaskState.PROCESSING,
        "analyze-competitors": TaskState.CANCELLED,
        "color-tags": TaskState.WAITING,
        "font-pairing": TaskState.WAITING,
        "compile-result": TaskState.WAITING,
    }
    assert harness.task("scrape-store").cancel_requested
    assert not harness.task(END).cancel_requested
    harness.end(running, CANCELLED)
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED
    assert harness.emitted()["Task Cancelled"] == 4  # its worker tells of the fifth
    assert harness.emitted()["Job Cancelled"] == 1
    assert harness.the_job().due_at_ms is None


def test_what_follows_is_cancelled_whatever_its_rule(harness: ChangedHarness) -> None:
    harness.start({"a": [], "b": ["a"], "c": ["a"]}, b=Rule.ALL_SETTLED, c=Rule.ANY_FAILED)
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED


def test_a_task_that_completes_all_the_same_stays_completed(harness: ChangedHarness) -> None:
    harness.start(CHAIN)
    running = harness.claim("a")
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    harness.end(running, Outcome(state=TaskState.COMPLETED))
    harness.deliver()
    assert harness.states() == {
        "a": TaskState.COMPLETED,
        "b": TaskState.CANCELLED,
        "c": TaskState.CANCELLED,
    }
    assert harness.job_state() is JobState.CANCELLED


def test_a_job_whose_end_came_while_it_was_cancelling_is_settled(harness: ChangedHarness) -> None:
    harness.start({"a": []})
    running = harness.claim("a")
    harness.cancels.request_cancel(harness.job)
    harness.end(running, Outcome(state=TaskState.COMPLETED))
    assert harness.state(END) is TaskState.COMPLETED
    assert harness.task(END).due_at_ms is not None
    assert harness.job_state() is JobState.CANCELLING
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    assert harness.task(END).due_at_ms is None


def test_what_is_cancelled_needs_no_dispatch_of_its_own(harness: ChangedHarness) -> None:
    harness.start({"a": [], "b": ["a"], "c": ["b"], "d": []})
    harness.cancels.request_cancel(harness.job)
    assert harness.canceller.go_on(harness.the_job(), until=harness.until)
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED
    assert [harness.task(name).due_at_ms for name in ("a", "b", "c", "d", END)] == [None] * 5
    emitted = dict(harness.emitted())
    harness.deliver()
    assert harness.emitted() == emitted


def test_nothing_of_a_job_that_is_being_cancelled_becomes_ready(harness: ChangedHarness) -> None:
    harness.start({"a": [], "b": ["a"]})
    running = harness.claim("a")
    harness.queued()
    harness.cancels.request_cancel(harness.job)
    harness.end(running, Outcome(state=TaskState.COMPLETED))
    assert harness.state("b") is TaskState.CANCELLED
    assert harness.queued() == set()


def test_nothing_that_was_ready_is_sent_once_its_job_is_being_cancelled(
    harness: ChangedHarness,
) -> None:
    harness.start({"a": []})
    harness.queued()
    ready = replace(harness.task("a"), state=TaskState.READY)
    harness.memory.state.tasks[ready.ref] = ready
    harness.cancels.request_cancel(harness.job)
    harness.wake("a", by_event=False)
    assert (harness.state("a"), harness.queued()) == (TaskState.READY, set())
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED


def test_a_task_that_changes_while_it_is_visited_is_visited_again(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], "b": []})
    harness.cancels.request_cancel(harness.job)
    cancel_many = harness.memory.cancelling.cancel_many
    taken: list[Claimed] = []

    def late(tasks: list[Task], *, now_ms: int) -> list[Task | None]:
        if not taken:
            taken.append(harness.claim("a"))
        return list(cancel_many(tasks, now_ms=now_ms))

    monkeypatch.setattr(harness.memory.cancelling, "cancel_many", late)
    harness.deliver()
    assert harness.task("a").cancel_requested
    harness.end(taken[0], CANCELLED)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("cancelling", "cancel"),
        ("cancelling", "end"),
        ("bus", "put"),
        ("graph", "remove_edges"),
        ("graph", "clear_due"),
    ],
)
def test_a_crash_at_any_step_is_mended_by_the_next_wake_up(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    harness.start(CHAIN)
    harness.cancels.request_cancel(harness.job)
    with monkeypatch.context() as broken:
        target = getattr(harness.memory, part)
        broken.setattr(target, method, crashing(getattr(target, method), after=after))
        with suppress(Crash):
            harness.canceller.go_on(harness.the_job(), until=harness.until)
    harness.memory.dispatches.send([harness.job, harness.run_of("a"), harness.run_of(END)])
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED


@pytest.mark.parametrize(
    ("facts", "error", "words"),
    [
        ({"state": JobState.WRITING}, NotNow, "still being written"),
        ({"state": JobState.REDRIVING, "redrive_key": "k"}, NotNow, "being redriven"),
        ({"redrive_key": "k"}, NotNow, "being redriven"),
        ({"state": JobState.COMPLETED}, Conflict, "settled already: completed"),
    ],
)
def test_other_jobs_are_not_cancelled(
    harness: ChangedHarness, facts: dict[str, object], error: type[Conflict], words: str
) -> None:
    job = harness.start(CHAIN)
    changed = replace(harness.the_job(), **facts)  # type: ignore[arg-type]
    harness.memory.state.jobs[job] = changed
    with pytest.raises(error, match=words):
        harness.cancels.request_cancel(job)
    with pytest.raises(error, match=words):
        harness.cancels.cancel_task(job.task("a"))
    assert harness.the_job() == changed


def test_what_does_not_exist_cannot_be_cancelled(harness: ChangedHarness) -> None:
    job = harness.start(CHAIN)
    unknown = JobRef(TENANT, job.job_id[:-1] + "9")
    with pytest.raises(UnknownJob):
        harness.cancels.request_cancel(unknown)
    for name in ("nobody", END):
        with pytest.raises(UnknownTask):
            harness.cancels.cancel_task(job.task(name))


def test_a_task_alone_is_cancelled_and_what_follows_it_is_skipped(harness: ChangedHarness) -> None:
    harness.start(CHAIN | {"other": []})
    answer = harness.cancels.cancel_task(harness.job.task("a"))
    assert (answer.status, answer.request_id) == ("cancelled", f"{harness.job.job_id}__a")
    assert harness.cancels.cancel_task(harness.job.task("a")) == answer
    harness.deliver()
    assert harness.states() == {
        "a": TaskState.CANCELLED,
        "b": TaskState.SKIPPED,
        "c": TaskState.SKIPPED,
        "other": TaskState.QUEUED,
    }
    harness.settle("other")
    assert harness.job_state() is JobState.CANCELLED


def test_a_waiting_task_is_cancelled_when_it_is_decided(harness: ChangedHarness) -> None:
    harness.start(CHAIN | {"other": []})
    assert harness.cancels.cancel_task(harness.job.task("b")).status == "waiting"
    harness.settle("a")
    assert harness.states()["b"] is TaskState.CANCELLED
    with pytest.raises(Conflict, match="a has settled already: completed"):
        harness.cancels.cancel_task(harness.job.task("a"))


def test_a_cancellation_leaves_the_event_of_the_jobs_creation_due(harness: ChangedHarness) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness, "wake", lambda *_names: None)
        harness.start({"a": []})
    assert harness.task(START).due_at_ms is not None
    harness.cancels.request_cancel(harness.job)
    assert harness.canceller.go_on(harness.the_job(), until=harness.until)
    assert harness.task(START).due_at_ms is not None


def test_a_late_wake_up_does_not_hide_a_task_whose_event_was_not_emitted(
    harness: ChangedHarness,
) -> None:
    """One that was sent to be started, has been cancelled since, and who did that has died."""
    job = harness.start(CHAIN)
    harness.cancels.request_cancel(job)
    (ready,) = [t for t in harness.memory.state.tasks.values() if t.ref.task_id == "a"]
    harness.memory.cancelling.cancel_many([ready], now_ms=harness.clock.now_ms())
    assert harness.emitted()["Task Cancelled"] == 0

    harness.wake("a", by_event=False)

    cancelled = [e for e in harness.memory.bus.events if e.event_type == "Task Cancelled"]
    assert ready.ref.request_id in {e.detail()["properties"]["requestId"] for e in cancelled}
    assert harness.task("a").due_at_ms is None
