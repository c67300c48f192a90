"""Folding a log: order and repetition do not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.contracts.events import (
    CATALOGUE,
    CreatedTask,
    JobCompleted,
    JobFailed,
    JobFailureDetected,
    JobProperties,
    JobTasksAdded,
    StoredEvent,
    TaskCancelled,
    TaskProperties,
    TaskSkipped,
    TaskTimeout,
)
from switchyard.contracts.events.facts import JOB_STATES, TASK_STATES
from switchyard.domain.events.fold import fold_task
from tests.builders import JOB_ID, NOW_MS
from tests.fakes.events.log_entries import (
    Sent,
    attempt_failed,
    beat,
    completed,
    created,
    failed,
    job_fold,
    of,
    pending,
    redriven,
    released,
    started,
    stored,
    task_fold,
)

LIFE: list[Sent] = [
    (created("a", "b"), 0),
    (pending(), 1),
    (started(2), 2),
    (beat(2, 1), 3),
    (attempt_failed(2, 1), 4),
    (started(3), 5),
    (failed(3, retries=1), 6),
    (TaskSkipped(**of("b", 1), reason="a failed"), 7),
    (
        JobFailureDetected(job_id=JOB_ID, run=1, failed_task_id="a", task_statuses={"a": "failed"}),
        7,
    ),
    (JobFailed(job_id=JOB_ID, run=1, total_tasks=2, task_statuses={}), 8),
    (redriven(4), 9),
    (redriven(2, task_id="b"), 9),
    (pending(5, run=2), 10),
    (beat(2, 2), 11),  # of a zombie
    (started(6, run=2), 12),
    (completed(6, run=2), 13),
    (beat(6, 1, run=2), 14),
    (
        JobTasksAdded(
            job_id=JOB_ID,
            run=2,
            chunk=1,
            new_tasks=(CreatedTask(task_id="c", name="scrape"),),
            previous_total_tasks=2,
            total_tasks_now=3,
        ),
        15,
    ),
    (pending(3, task_id="b", run=2), 16),
]
EVENTS = stored(*LIFE)


@given(st.permutations(EVENTS), st.lists(st.sampled_from(EVENTS)))
def test_any_order_and_any_repetition_fold_to_the_same(
    shuffled: list[StoredEvent], repeated: list[StoredEvent]
) -> None:
    assert job_fold([*repeated, *shuffled]) == job_fold(EVENTS)


@given(st.permutations(EVENTS), st.integers(0, len(EVENTS)))
def test_any_part_of_a_log_folds(shuffled: list[StoredEvent], length: int) -> None:
    fold = job_fold(shuffled[:length])
    assert fold is None or fold.total_tasks >= len(fold.tasks)


def test_every_beginning_of_a_log_folds_to_the_state_of_that_time() -> None:
    folds = [job_fold(EVENTS[:length]) for length in range(1, len(EVENTS) + 1)]
    assert [fold and (fold.status, fold.tasks["a"].status) for fold in folds] == [
        ("processing", "waiting"),
        ("processing", "pending"),
        *[("processing", "processing")] * 2,
        ("processing", "retrying"),
        ("processing", "processing"),
        *[("processing", "failed")] * 2,
        ("partial_failure", "failed"),
        ("failed", "failed"),
        *[("processing", "waiting")] * 2,
        *[("processing", "pending")] * 2,
        ("processing", "processing"),
        *[("processing", "completed")] * 4,
    ]


def test_the_whole_log_says_how_the_job_stands() -> None:
    fold = job_fold(EVENTS)
    assert fold is not None
    assert (fold.status, fold.run, fold.total_tasks) == ("processing", 2, 3)
    assert fold.failed_task_id is None
    assert {task_id: task.status for task_id, task in fold.tasks.items()} == {
        "a": "completed",
        "b": "pending",
        "c": "waiting",
    }
    assert (fold.tasks["a"].run, fold.tasks["a"].attempt) == (2, 1)
    assert fold.last.event_type == "Task Pending"


def test_an_empty_log_folds_to_nothing() -> None:
    assert fold_task([]) is None
    assert job_fold([]) is None
    assert job_fold(stored((pending(), 1))) is None


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (completed(2), "completed"),
        (failed(2), "failed"),
        (TaskTimeout(**of("a", 2), timeout_ms=1, elapsed_ms=1, signal="SIGKILL"), "failed"),
        (TaskCancelled(**of("a", 2), reason="asked"), "cancelled"),
        (TaskSkipped(**of("a", 2), reason="asked"), "skipped"),
    ],
)
def test_an_end_absorbs_whatever_comes_later(end: TaskProperties, status: str) -> None:
    later: list[Sent] = [(beat(2, 9), 9), (pending(3), 10), (started(4), 11), (failed(5), 12)]
    fold = task_fold((end, 5), *later)
    assert fold.status == status
    assert fold.last is not None
    assert fold.last.timestamp_ms == NOW_MS + 12


def test_a_late_pending_event_takes_nothing_back() -> None:
    assert task_fold((started(2), 5), (pending(1), 9)).status == "processing"


def test_a_heartbeat_after_the_task_was_handed_back_does_not_take_it_again() -> None:
    fold = task_fold((started(2), 1), (attempt_failed(2, 1), 2), (beat(2, 3), 3))
    assert (fold.status, fold.attempt) == ("retrying", 1)


def test_an_attempt_that_was_given_back_does_not_count() -> None:
    given_back = [(started(2), 1), (released(2), 2)]
    assert task_fold(*given_back).attempt == 0
    assert task_fold(*given_back).status == "pending"
    assert task_fold(*given_back, (started(3), 3)).attempt == 1


def test_attempts_count_on_from_the_last_that_was_named() -> None:
    lost_the_first = [(attempt_failed(5, 2), 1), (started(7), 2), (beat(7, 1), 3)]
    assert task_fold(*lost_the_first).attempt == 3


def test_hidden_tasks_are_not_in_the_picture() -> None:
    events = stored((created("a"), 0), (pending(task_id="__end__"), 1))
    fold = job_fold(events)
    assert fold is not None
    assert set(fold.tasks) == {"a"}


def test_a_job_that_completed_stays_so() -> None:
    done = JobCompleted(job_id=JOB_ID, run=1, total_tasks=1, task_statuses={})
    late = JobFailureDetected(job_id=JOB_ID, run=1, failed_task_id="a", task_statuses={})
    fold = job_fold(stored((done, 1), (late, 2), (created("a"), 0)))
    assert fold is not None
    assert fold.status == "completed"


def test_every_event_of_a_task_or_a_job_says_a_state() -> None:
    models = set(CATALOGUE.values())
    assert {m for m in models if issubclass(m, TaskProperties)} == set(TASK_STATES)
    assert {m for m in models if issubclass(m, JobProperties)} == set(JOB_STATES)
