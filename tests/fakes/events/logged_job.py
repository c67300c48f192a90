"""A job in the event log and in the state table, for tests that compare the two."""

from dataclasses import replace
from typing import Any

from switchyard.contracts.events import (
    JobFailed,
    JobFailureDetected,
    StoredEvent,
    TaskCompleted,
    TaskSkipped,
    UsageFigures,
)
from switchyard.domain.events.verification import (
    JobRecord,
    TaskRecord,
    compare,
)
from tests.builders import JOB_ID
from tests.fakes.events.log_entries import (
    Sent,
    attempt_failed,
    beat,
    created,
    failed,
    job_fold,
    of,
    pending,
    started,
    stored,
)

OUTPUT = {"title": "Shop", "score": 1.0, "tags": ["a", {"b": True}], "none": None}


def completed(fence: int, task_id: str, output: Any = OUTPUT) -> TaskCompleted:
    usage = UsageFigures(cost_usd=0.25)
    return TaskCompleted(
        **of(task_id, fence), output=output, duration_ms=1, exit_code=0, usage=usage
    )


def detected(task_id: str) -> JobFailureDetected:
    return JobFailureDetected(job_id=JOB_ID, run=1, failed_task_id=task_id, task_statuses={})


# Pending at fence 1, queued at 2, claimed from 3 on.
LIFE: list[Sent] = [
    (created("a", "b", "c"), 0),
    (pending(1, task_id="a"), 1),
    (pending(1, task_id="b"), 1),
    (started(3, task_id="a"), 2),
    (beat(3, 1, task_id="a"), 3),
    (attempt_failed(3, 1, task_id="a"), 4),
    (started(4, task_id="a"), 5),
    (completed(4, "a"), 6),
    (started(2, task_id="b"), 6),
    (failed(2, task_id="b"), 7),
    (detected("b"), 8),
    (TaskSkipped(**of("c", 1), reason="did not complete: b"), 9),
    (JobFailed(job_id=JOB_ID, run=1, total_tasks=3, task_statuses={}), 10),
]
A = TaskRecord(status="completed", run=1, attempt=2, outcome={"output": OUTPUT, "costUsd": 0.25})
B = TaskRecord(status="failed", run=1, attempt=1, outcome={"error": "no"})
C = TaskRecord(status="skipped", run=1, attempt=0)
TABLE = JobRecord(
    status="failed",
    run=1,
    total_tasks=3,
    failed_task_id="b",
    tasks={"a": A, "b": B, "c": C},
)


def differences(
    events: list[StoredEvent], table: JobRecord = TABLE, *, in_flight: bool = False
) -> set[tuple[str, str, str]]:
    found = compare(job_fold(events), table, in_flight=in_flight)
    assert len({one.path for one in found}) == len(found)
    return {(one.path, str(one.log), str(one.table)) for one in found}


def without(event_type: str, entity_id: str = "") -> list[StoredEvent]:
    every = stored(*LIFE)
    rest = [e for e in every if e.event_type != event_type or not e.entity_id.endswith(entity_id)]
    assert len(rest) < len(every)
    return rest


def with_task(**changed: Any) -> JobRecord:
    return replace(TABLE, tasks={**TABLE.tasks, "a": replace(A, **changed)})
