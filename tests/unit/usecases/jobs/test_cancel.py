"""Cancelling jobs and tasks, on in-memory twins."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from switchyard.domain.errors import Conflict, NotNow, UnknownJob, UnknownTask
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.jobs.advancing import NextStep, next_step
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import Claimed
from switchyard.usecases.jobs import cancel
from tests.builders import DIAMOND, TENANT
from tests.fakes.changed_yard import ChangedYard
from tests.fakes.yard import Crash, crashing

CANCELLED = Outcome(state=TaskState.CANCELLED, error="cancellation was requested")
CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["b"]}


@pytest.fixture
def yard() -> ChangedYard:
    return ChangedYard()


def claim(yard: ChangedYard, task_id: str) -> Claimed:
    now_ms = yard.clock.now_ms()
    claimed = yard.memory.leases.claim(
        yard.job.task(task_id), owner="w", now_ms=now_ms, lease_ms=99_000
    )
    assert isinstance(claimed, Claimed)
    return claimed


def end(yard: ChangedYard, claimed: Claimed, outcome: Outcome) -> None:
    """As the worker does that ran it."""
    yard.memory.leases.settle(claimed.lease, outcome, output=1, now_ms=yard.clock.now_ms())
    yard.wake(claimed.task.ref.task_id)


def test_a_request_flips_the_job_and_wakes_the_dispatcher(yard: ChangedYard) -> None:
    job = yard.start(CHAIN)
    answer = yard.cancels.request_cancel(job)
    assert (answer.job_id, answer.status, answer.cancel_requested) == (
        job.job_id,
        "cancelling",
        True,
    )
    assert yard.job_state() is JobState.CANCELLING
    assert list(yard.memory.dispatches.refs) == [job]


def test_asking_again_is_answered_the_same_until_the_job_has_settled(yard: ChangedYard) -> None:
    job = yard.start(CHAIN)
    running = claim(yard, "a")
    first = yard.cancels.request_cancel(job)
    assert yard.cancels.request_cancel(job) == first
    yard.deliver()
    assert yard.job_state() is JobState.OPEN
    assert yard.cancels.request_cancel(job) == first
    end(yard, running, CANCELLED)
    yard.deliver()
    with pytest.raises(Conflict, match="settled already: cancelled"):
        yard.cancels.request_cancel(job)


def test_asking_again_ends_what_was_handed_back_in_between(yard: ChangedYard) -> None:
    job = yard.start({"a": []})
    running = claim(yard, "a")
    yard.cancels.request_cancel(job)
    yard.deliver()
    now_ms = yard.clock.now_ms()
    yard.memory.leases.release(
        running.lease, not_before_ms=now_ms + 3_600_000, now_ms=now_ms, give_attempt_back=True
    )
    yard.cancels.request_cancel(job)
    yard.deliver()
    assert yard.states() == {"a": TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED


def test_what_nobody_runs_ends_at_once_and_the_rest_is_flagged(yard: ChangedYard) -> None:
    yard.start(DIAMOND)
    running = claim(yard, "scrape-store")
    yard.cancels.request_cancel(yard.job)
    yard.deliver()
    assert yard.states() == {
        "scrape-store": TaskState.PROCESSING,
        "analyze-competitors": TaskState.CANCELLED,
        "color-tags": TaskState.WAITING,
        "font-pairing": TaskState.WAITING,
        "compile-result": TaskState.WAITING,
    }
    assert yard.task("scrape-store").cancel_requested
    assert not yard.task(END).cancel_requested
    end(yard, running, CANCELLED)
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED
    assert yard.told()["Task Cancelled"] == 4  # its worker tells of the fifth
    assert yard.told()["Job Cancelled"] == 1
    assert yard.the_job().due_at_ms is None


def test_what_follows_is_cancelled_whatever_its_rule(yard: ChangedYard) -> None:
    yard.start({"a": [], "b": ["a"], "c": ["a"]}, b=Rule.ALL_SETTLED, c=Rule.ANY_FAILED)
    yard.cancels.request_cancel(yard.job)
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED


def test_a_task_that_completes_all_the_same_stays_completed(yard: ChangedYard) -> None:
    yard.start(CHAIN)
    running = claim(yard, "a")
    yard.cancels.request_cancel(yard.job)
    yard.deliver()
    end(yard, running, Outcome(state=TaskState.COMPLETED))
    yard.deliver()
    assert yard.states() == {
        "a": TaskState.COMPLETED,
        "b": TaskState.CANCELLED,
        "c": TaskState.CANCELLED,
    }
    assert yard.job_state() is JobState.CANCELLED


def test_a_job_whose_end_came_while_it_was_cancelling_is_settled(yard: ChangedYard) -> None:
    yard.start({"a": []})
    running = claim(yard, "a")
    yard.cancels.request_cancel(yard.job)
    end(yard, running, Outcome(state=TaskState.COMPLETED))
    assert yard.state(END) is TaskState.COMPLETED
    assert yard.task(END).due_at_ms is not None
    assert yard.job_state() is JobState.CANCELLING
    yard.deliver()
    assert yard.job_state() is JobState.COMPLETED
    assert yard.task(END).due_at_ms is None


PAGE = 20
ROOTS: dict[str, list[str]] = {f"t{number:04}": [] for number in range(2 * PAGE)}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel, "VISITED_AT_ONCE", PAGE)


@pytest.mark.usefixtures("small_pages")
def test_what_a_worker_could_take_ends_before_anything_is_flagged(yard: ChangedYard) -> None:
    yard.start({"a-waits": ["z-runs"], "z-runs": [], **ROOTS})
    running = claim(yard, "z-runs")
    yard.cancels.request_cancel(yard.job)
    while not yard.task(max(ROOTS)).state.settled:
        assert not yard.task("a-waits").cancel_requested
        yard.canceller.go_on(yard.the_job(), until=yard.clock.monotonic())
    yard.deliver()
    assert yard.task("a-waits").cancel_requested
    assert yard.task("z-runs").cancel_requested
    end(yard, running, CANCELLED)
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED


@pytest.mark.usefixtures("small_pages")
def test_when_time_is_over_the_next_step_goes_on_behind_what_was_visited(
    yard: ChangedYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({**ROOTS, "z-last": list(ROOTS)[:9]})
    yard.cancels.request_cancel(yard.job)
    page = yard.memory.cancelling.page
    read: list[str] = []

    def counted(ref: JobRef, *, after: str | None, at_most: int) -> list[Task]:
        tasks = list(page(ref, after=after, at_most=at_most))
        read.extend(task.ref.task_id for task in tasks)
        return tasks

    monkeypatch.setattr(yard.memory.cancelling, "page", counted)
    steps = 1
    while not yard.canceller.go_on(yard.the_job(), until=yard.clock.monotonic()):
        steps += 1
    assert steps > 6
    assert Counter(read).most_common(1)[0][1] == 3  # once in each of the three passes
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED
    assert yard.the_job().cancel_cursor is None


def test_what_is_cancelled_needs_no_dispatch_of_its_own(yard: ChangedYard) -> None:
    yard.start({"a": [], "b": ["a"], "c": ["b"], "d": []})
    yard.cancels.request_cancel(yard.job)
    assert yard.canceller.go_on(yard.the_job(), until=yard.until)
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED
    assert [yard.task(name).due_at_ms for name in ("a", "b", "c", "d", END)] == [None] * 5
    told = dict(yard.told())
    yard.deliver()
    assert yard.told() == told


def test_nothing_of_a_job_that_is_being_cancelled_becomes_ready(yard: ChangedYard) -> None:
    yard.start({"a": [], "b": ["a"]})
    running = claim(yard, "a")
    yard.queued()
    yard.cancels.request_cancel(yard.job)
    end(yard, running, Outcome(state=TaskState.COMPLETED))
    assert yard.state("b") is TaskState.CANCELLED
    assert yard.queued() == set()


def test_nothing_that_was_ready_is_sent_once_its_job_is_being_cancelled(yard: ChangedYard) -> None:
    yard.start({"a": []})
    yard.queued()
    ready = replace(yard.task("a"), state=TaskState.READY)
    yard.memory.state.tasks[ready.ref] = ready
    yard.cancels.request_cancel(yard.job)
    yard.wake("a", by_event=False)
    assert (yard.state("a"), yard.queued()) == (TaskState.READY, set())
    yard.deliver()
    assert yard.job_state() is JobState.CANCELLED


def test_a_task_that_changes_while_it_is_visited_is_visited_again(
    yard: ChangedYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.start({"a": [], "b": []})
    yard.cancels.request_cancel(yard.job)
    cancel_many = yard.memory.cancelling.cancel_many
    taken: list[Claimed] = []

    def late(tasks: list[Task], *, now_ms: int) -> list[Task | None]:
        if not taken:
            taken.append(claim(yard, "a"))
        return list(cancel_many(tasks, now_ms=now_ms))

    monkeypatch.setattr(yard.memory.cancelling, "cancel_many", late)
    yard.deliver()
    assert yard.task("a").cancel_requested
    end(yard, taken[0], CANCELLED)
    yard.deliver()
    assert yard.job_state() is JobState.CANCELLED


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
    yard: ChangedYard, monkeypatch: pytest.MonkeyPatch, part: str, method: str, after: bool
) -> None:
    yard.start(CHAIN)
    yard.cancels.request_cancel(yard.job)
    with monkeypatch.context() as broken:
        target = getattr(yard.memory, part)
        broken.setattr(target, method, crashing(getattr(target, method), after=after))
        with suppress(Crash):
            yard.canceller.go_on(yard.the_job(), until=yard.until)
    yard.memory.dispatches.send([yard.job, yard.run_of("a"), yard.run_of(END)])
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED


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
    yard: ChangedYard, facts: dict[str, object], error: type[Conflict], words: str
) -> None:
    job = yard.start(CHAIN)
    changed = replace(yard.the_job(), **facts)  # type: ignore[arg-type]
    yard.memory.state.jobs[job] = changed
    with pytest.raises(error, match=words):
        yard.cancels.request_cancel(job)
    with pytest.raises(error, match=words):
        yard.cancels.cancel_task(job.task("a"))
    assert yard.the_job() == changed


def test_what_does_not_exist_cannot_be_cancelled(yard: ChangedYard) -> None:
    job = yard.start(CHAIN)
    unknown = JobRef(TENANT, job.job_id[:-1] + "9")
    with pytest.raises(UnknownJob):
        yard.cancels.request_cancel(unknown)
    for name in ("nobody", END):
        with pytest.raises(UnknownTask):
            yard.cancels.cancel_task(job.task(name))


def test_a_task_alone_is_cancelled_and_what_follows_it_is_skipped(yard: ChangedYard) -> None:
    yard.start(CHAIN | {"other": []})
    answer = yard.cancels.cancel_task(yard.job.task("a"))
    assert (answer.status, answer.request_id) == ("cancelled", f"{yard.job.job_id}__a")
    assert yard.cancels.cancel_task(yard.job.task("a")) == answer
    yard.deliver()
    assert yard.states() == {
        "a": TaskState.CANCELLED,
        "b": TaskState.SKIPPED,
        "c": TaskState.SKIPPED,
        "other": TaskState.QUEUED,
    }
    yard.settle("other")
    assert yard.job_state() is JobState.CANCELLED


def test_a_waiting_task_is_cancelled_when_it_is_decided(yard: ChangedYard) -> None:
    yard.start(CHAIN | {"other": []})
    assert yard.cancels.cancel_task(yard.job.task("b")).status == "waiting"
    yard.settle("a")
    assert yard.states()["b"] is TaskState.CANCELLED
    with pytest.raises(Conflict, match="a has settled already: completed"):
        yard.cancels.cancel_task(yard.job.task("a"))


@pytest.mark.usefixtures("small_pages")
def test_the_job_settles_before_the_events_of_its_tasks_are_emitted(yard: ChangedYard) -> None:
    yard.start({**ROOTS, "z-last": list(ROOTS)})
    yard.cancels.request_cancel(yard.job)
    assert yard.canceller.go_on(yard.the_job(), until=yard.until)
    emitted = [event.event_type for event in yard.memory.bus.events]
    after = emitted[emitted.index("Job Cancelled") + 1 :]
    assert after == ["Task Cancelled"] * (len(ROOTS) + 1)
    assert "Task Cancelled" not in emitted[: -len(after)]


@pytest.mark.usefixtures("small_pages")
def test_until_its_event_was_emitted_a_cancelled_task_stays_due(yard: ChangedYard) -> None:
    yard.start(ROOTS)
    yard.cancels.request_cancel(yard.job)
    while yard.job_state() is JobState.CANCELLING:
        yard.canceller.go_on(yard.the_job(), until=yard.clock.monotonic())
    due = {name for name in ROOTS if yard.task(name).due_at_ms is not None}
    assert len(due) >= len(ROOTS) - PAGE
    emitted = {event.entity_id for event in yard.memory.bus.events}
    assert due.isdisjoint(emitted)
    assert next_step(yard.the_job()) is NextStep.CANCEL


def test_a_cursor_of_an_earlier_cancellation_does_not_hold_up_a_redrive(yard: ChangedYard) -> None:
    yard.start({"a": [], "b": []})
    yard.cancels.request_cancel(yard.job)
    with pytest.MonkeyPatch.context() as patch, suppress(Crash):
        patch.setattr(yard.emitter, "emit", crashing(yard.emitter.emit, after=False))
        yard.canceller.go_on(yard.the_job(), until=yard.until)
    assert yard.the_job().cancel_cursor is not None
    yard.wake("a", "b", END, by_event=False)
    yard.redrive()
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.QUEUED}
    yard.cancels.request_cancel(yard.job)
    yard.deliver()
    assert set(yard.states().values()) == {TaskState.CANCELLED}
    assert yard.job_state() is JobState.CANCELLED
    assert yard.the_job().cancel_cursor is None


def test_a_cancellation_leaves_the_event_of_the_jobs_creation_due(yard: ChangedYard) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yard, "wake", lambda *_names: None)
        yard.start({"a": []})
    assert yard.task(START).due_at_ms is not None
    yard.cancels.request_cancel(yard.job)
    assert yard.canceller.go_on(yard.the_job(), until=yard.until)
    assert yard.task(START).due_at_ms is not None
