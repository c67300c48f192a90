"""Attempts and runs, as far as the log knows them, against the state table."""

from dataclasses import replace

from switchyard.contracts.events import (
    JobCompleted,
    JobFailed,
    TaskTimeout,
)
from switchyard.domain.events.verification import (
    JobRecord,
    TaskRecord,
)
from tests.builders import JOB_ID
from tests.fakes.events.log_entries import (
    Sent,
    created,
    failed,
    of,
    pending,
    redriven,
    released,
    started,
    stored,
)
from tests.fakes.events.logged_job import (
    LIFE,
    TABLE,
    A,
    completed,
    detected,
    differences,
)


def test_an_attempt_without_an_event_is_no_difference() -> None:
    events: list[Sent] = [
        (created("a"), 0),
        (pending(1), 1),
        (started(4), 2),  # the attempt under fence 3 crashed before it was told
        (completed(4, "a"), 3),
        (JobCompleted(job_id=JOB_ID, run=1, total_tasks=1, task_statuses={}), 4),
    ]
    table = JobRecord(status="completed", run=1, total_tasks=1, failed_task_id=None, tasks={"a": A})
    assert differences(stored(*events), table) == set()
    emitted = [*events, (started(3), 2)]
    assert differences(stored(*emitted), table) == set()
    once = replace(table, tasks={"a": replace(A, attempt=1)})
    assert differences(stored(*emitted), once) == {("tasks.a.attempt", "2", "1")}


def test_an_attempt_between_two_others_may_have_no_event() -> None:
    table = JobRecord(
        status="processing",
        run=1,
        total_tasks=1,
        failed_task_id=None,
        tasks={"a": TaskRecord(status="completed", run=1, attempt=3, outcome=A.outcome)},
    )
    life: list[Sent] = [(created("a"), 0), (pending(1), 1), (started(3), 2), (completed(5, "a"), 3)]
    assert differences(stored(*life), table) == set()
    assert differences(stored(*life, (started(4), 2)), with_attempts(table, 2)) == {
        ("tasks.a.attempt", "3", "2")
    }


def with_attempts(table: JobRecord, attempt: int) -> JobRecord:
    return replace(table, tasks={"a": replace(table.tasks["a"], attempt=attempt)})


def test_an_end_that_names_its_attempt_is_believed() -> None:
    task = TaskRecord(status="failed", run=1, attempt=3, outcome={"error": "no"})
    table = JobRecord(
        status="processing", run=1, total_tasks=1, failed_task_id=None, tasks={"a": task}
    )
    life = stored((created("a"), 0), (pending(1), 1), (failed(6, retries=2), 2))
    assert differences(life, table) == set()
    assert differences(life, with_attempts(table, 2)) == {("tasks.a.attempt", "3", "2")}


def test_an_attempt_that_was_given_back_is_known_not_to_count() -> None:
    events: list[Sent] = [
        (created("a"), 0),
        (pending(1), 1),
        (released(3), 2),  # before its child was spawned
        (started(4), 3),
        (TaskTimeout(**of("a", 4), timeout_ms=1, elapsed_ms=1, signal="SIGTERM"), 4),
        (detected("a"), 5),
        (JobFailed(job_id=JOB_ID, run=1, total_tasks=1, task_statuses={}), 6),
    ]
    task = TaskRecord(status="failed", run=1, attempt=1, outcome={"error": "timed out"})
    table = JobRecord(status="failed", run=1, total_tasks=1, failed_task_id="a", tasks={"a": task})
    assert differences(stored(*events), table) == set()
    twice = replace(table, tasks={"a": replace(task, attempt=2)})
    assert differences(stored(*events), twice) == {("tasks.a.attempt", "1", "2")}


def test_a_redriven_task_is_compared_in_its_new_run() -> None:
    events = stored(*LIFE, (redriven(5, task_id="b"), 11), (pending(6, task_id="b", run=2), 12))
    reopened = TaskRecord(status="pending", run=2, attempt=0)
    table = replace(
        TABLE,
        status="processing",
        run=2,
        failed_task_id=None,
        tasks={**TABLE.tasks, "b": reopened},
    )
    assert differences(events, table) == set()
    assert ("tasks.b.run", "2", "1") in differences(events, TABLE)
