"""Cancelling a job page by page: the order, the cursor and the events."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

import pytest

from switchyard.domain.ids import END, JobRef, TaskRef
from switchyard.domain.jobs.job import NextStep, next_step
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.usecases.jobs import cancel
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import DISPATCH_SECONDS, Crash, crashing

CANCELLED = Outcome(state=TaskState.CANCELLED, error="cancellation was requested")
PAGE = 20
ROOTS: dict[str, list[str]] = {f"t{number:04}": [] for number in range(2 * PAGE)}


@pytest.fixture
def harness() -> ChangedHarness:
    return ChangedHarness()


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel, "VISITED_AT_ONCE", PAGE)


def names_read(harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the ids of all tasks are added that pages contain from now on."""
    page = harness.memory.cancelling.page
    read: list[str] = []

    def counted(ref: JobRef, *, after: str | None, at_most: int) -> list[Task]:
        tasks = list(page(ref, after=after, at_most=at_most))
        read.extend(task.ref.task_id for task in tasks)
        return tasks

    monkeypatch.setattr(harness.memory.cancelling, "page", counted)
    return read


@pytest.mark.usefixtures("small_pages")
def test_what_a_worker_could_take_ends_before_anything_is_flagged(harness: ChangedHarness) -> None:
    harness.start({"a-waits": ["z-runs"], "z-runs": [], **ROOTS})
    running = harness.claim("z-runs")
    harness.cancels.request_cancel(harness.job)
    while not harness.task(max(ROOTS)).state.settled:
        assert not harness.task("a-waits").cancel_requested
        harness.canceller.go_on(harness.the_job(), until=harness.clock.monotonic())
    harness.deliver()
    assert harness.task("a-waits").cancel_requested
    assert harness.task("z-runs").cancel_requested
    harness.end(running, CANCELLED)
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED


@pytest.mark.usefixtures("small_pages")
def test_when_time_is_over_the_next_step_goes_on_behind_what_was_visited(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({**ROOTS, "z-last": list(ROOTS)[:9]})
    harness.cancels.request_cancel(harness.job)
    read = names_read(harness, monkeypatch)
    steps = 1
    while not harness.canceller.go_on(harness.the_job(), until=harness.clock.monotonic()):
        steps += 1
    assert steps > 6
    assert Counter(read).most_common(1)[0][1] == 3  # once in each of the three passes
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED
    assert harness.the_job().cancel_cursor is None


@pytest.mark.usefixtures("small_pages")
def test_a_job_without_waiting_tasks_is_read_once_before_it_settles(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a-runs": [], **ROOTS})
    running = harness.claim("a-runs")
    harness.cancels.request_cancel(harness.job)
    read = names_read(harness, monkeypatch)
    while harness.job_state() is JobState.CANCELLING:
        harness.canceller.go_on(harness.the_job(), until=harness.clock.monotonic())
    assert Counter(read).most_common(1)[0][1] == 1
    assert harness.task("a-runs").cancel_requested
    harness.end(running, CANCELLED)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED


def test_what_a_pass_has_settled_itself_is_not_read_again(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 300 lead to the end of the job through hidden tasks, which ask how those ended."""
    harness.start({f"t{number:04}": [] for number in range(300)})
    harness.cancels.request_cancel(harness.job)
    find_many = harness.memory.graph.find_many
    read: list[TaskRef] = []

    def counted(refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        read.extend(refs)
        return find_many(refs)

    monkeypatch.setattr(harness.memory.graph, "find_many", counted)
    harness.canceller.go_on(harness.the_job(), until=harness.clock.monotonic() + DISPATCH_SECONDS)
    assert harness.job_state() is JobState.CANCELLED
    assert not read


@pytest.mark.usefixtures("small_pages")
def test_a_pass_that_an_earlier_version_began_flags_what_that_one_left(
    harness: ChangedHarness,
) -> None:
    harness.start({"a-runs": [], **ROOTS})
    harness.claim("a-runs")
    harness.cancels.request_cancel(harness.job)
    harness.memory.cancelling.note_progress(harness.the_job(), f"queued#{min(ROOTS)}")
    harness.deliver()
    assert harness.task("a-runs").cancel_requested


@pytest.mark.usefixtures("small_pages")
def test_a_task_that_changes_faster_than_it_is_visited_is_visited_by_the_next_pass(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(ROOTS)
    harness.cancels.request_cancel(harness.job)
    cancel_many, missed = harness.memory.cancelling.cancel_many, [max(ROOTS)] * cancel.TRIES

    def changing(tasks: Sequence[Task], *, now_ms: int) -> list[Task | None]:
        if missed and any(task.ref.task_id == missed[0] for task in tasks):
            name = missed.pop()
            others = [task for task in tasks if task.ref.task_id != name]
            done = {task.ref: task for task in cancel_many(others, now_ms=now_ms) if task}
            return [done.get(task.ref) for task in tasks]
        return list(cancel_many(tasks, now_ms=now_ms))

    monkeypatch.setattr(harness.memory.cancelling, "cancel_many", changing)
    harness.deliver()
    assert not missed
    assert set(harness.states().values()) == {TaskState.CANCELLED}


@pytest.mark.usefixtures("small_pages")
def test_the_job_settles_before_the_events_of_its_tasks_are_emitted(
    harness: ChangedHarness,
) -> None:
    harness.start({**ROOTS, "z-last": list(ROOTS)})
    harness.cancels.request_cancel(harness.job)
    assert harness.canceller.go_on(harness.the_job(), until=harness.until)
    emitted = [event.event_type for event in harness.memory.bus.events]
    after = emitted[emitted.index("Job Cancelled") + 1 :]
    assert after == ["Task Cancelled"] * (len(ROOTS) + 1)
    assert "Task Cancelled" not in emitted[: -len(after)]


@pytest.mark.usefixtures("small_pages")
def test_until_its_event_was_emitted_a_cancelled_task_stays_due(harness: ChangedHarness) -> None:
    harness.start(ROOTS)
    harness.cancels.request_cancel(harness.job)
    while harness.job_state() is JobState.CANCELLING:
        harness.canceller.go_on(harness.the_job(), until=harness.clock.monotonic())
    due = {name for name in ROOTS if harness.task(name).due_at_ms is not None}
    assert len(due) >= len(ROOTS) - PAGE
    emitted = {event.entity_id for event in harness.memory.bus.events}
    assert due.isdisjoint(emitted)
    assert next_step(harness.the_job()) is NextStep.CANCEL


def test_a_cursor_of_an_earlier_cancellation_does_not_hold_up_a_redrive(
    harness: ChangedHarness,
) -> None:
    harness.start({"a": [], "b": []})
    harness.cancels.request_cancel(harness.job)
    with pytest.MonkeyPatch.context() as patch, suppress(Crash):
        patch.setattr(harness.emitter, "emit", crashing(harness.emitter.emit, after=False))
        harness.canceller.go_on(harness.the_job(), until=harness.until)
    assert harness.the_job().cancel_cursor is not None
    harness.wake("a", "b", END, by_event=False)
    harness.redrive()
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.QUEUED}
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert set(harness.states().values()) == {TaskState.CANCELLED}
    assert harness.job_state() is JobState.CANCELLED
    assert harness.the_job().cancel_cursor is None


@pytest.mark.usefixtures("small_pages")
def test_a_job_settles_before_its_events_even_if_time_is_over(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(ROOTS)
    harness.cancels.request_cancel(harness.job)
    page = harness.memory.cancelling.page

    def slow_at_last(ref: JobRef, *, after: str | None, at_most: int) -> list[Task]:
        tasks = list(page(ref, after=after, at_most=at_most))
        if not tasks and harness.job_state() is JobState.CANCELLING:
            harness.clock.advance(DISPATCH_SECONDS)
        return tasks

    monkeypatch.setattr(harness.memory.cancelling, "page", slow_at_last)
    assert not harness.canceller.go_on(harness.the_job(), until=harness.until)
    assert harness.job_state() is JobState.CANCELLED
    assert harness.emitted()["Task Cancelled"] == 0
    harness.deliver()
    assert harness.emitted()["Task Cancelled"] == len(ROOTS)


@pytest.mark.usefixtures("small_pages")
def test_no_page_is_begun_that_would_not_end_in_time(
    harness: ChangedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start(ROOTS)
    harness.cancels.request_cancel(harness.job)
    cancel_many = harness.memory.cancelling.cancel_many

    def slow(tasks: Sequence[Task], *, now_ms: int) -> Sequence[Task | None]:
        harness.clock.advance(0.6 * DISPATCH_SECONDS)
        return cancel_many(tasks, now_ms=now_ms)

    monkeypatch.setattr(harness.memory.cancelling, "cancel_many", slow)
    until = harness.until
    assert not harness.canceller.go_on(harness.the_job(), until=until)
    assert harness.clock.monotonic() < until
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED
