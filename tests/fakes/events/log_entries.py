"""Builders of events of tasks and jobs, as the log stores them."""

from typing import Any

from switchyard.contracts.events import (
    Context,
    CreatedTask,
    Event,
    JobCreated,
    MemoryUsage,
    Properties,
    StoredEvent,
    TaskCompleted,
    TaskFailed,
    TaskHeartbeat,
    TaskPending,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskRedriven,
    TaskReleased,
    UsageFigures,
    job_event_facts,
    task_event_facts,
)
from switchyard.domain.events.fold import JobFold, TaskFold, fold_job, fold_task
from tests.builders import JOB_ID, NOW_MS

Sent = tuple[Properties, int]


def stored(*sent: Sent) -> list[StoredEvent]:
    return [
        StoredEvent.model_validate(
            Event.of(
                properties,
                tenant="acme",
                app="shop",
                timestamp_ms=NOW_MS + at,
                context=Context(environment="test", origin="test"),
            ).detail()
        )
        for properties, at in sent
    ]


def task_fold(*sent: Sent) -> TaskFold:
    fold = fold_task(task_event_facts(stored(*sent)))
    assert fold is not None
    return fold


def job_fold(events: list[StoredEvent]) -> JobFold | None:
    return fold_job(job_event_facts(events), task_event_facts(events))


def of(task_id: str, fence: int, run: int = 1) -> dict[str, Any]:
    identity = {"request_id": f"{JOB_ID}__{task_id}", "job_id": JOB_ID}
    return identity | {"run": run, "fence": fence}


def pending(fence: int = 1, *, task_id: str = "a", run: int = 1) -> TaskPending:
    return TaskPending(**of(task_id, fence, run), name="scrape")


def started(fence: int, *, task_id: str = "a", run: int = 1) -> TaskProcessingStarted:
    return TaskProcessingStarted(
        **of(task_id, fence, run), effective_until=1, worker_id="w", process_id=1
    )


def beat(fence: int, number: int, *, task_id: str = "a", run: int = 1) -> TaskHeartbeat:
    return TaskHeartbeat(
        **of(task_id, fence, run),
        effective_until=1,
        heartbeat_number=number,
        elapsed_ms=1,
        worker_id="w",
        process_id=1,
        memory_usage=MemoryUsage(rss=1),
    )


def attempt_failed(fence: int, attempt: int, *, task_id: str = "a") -> TaskProcessingFailed:
    return TaskProcessingFailed(
        **of(task_id, fence), attempt_number=attempt, error="reset", error_category="network"
    )


def released(fence: int) -> TaskReleased:
    return TaskReleased(**of("a", fence), reason="the worker stops", not_before=1)


def completed(fence: int, *, task_id: str = "a", run: int = 1) -> TaskCompleted:
    return TaskCompleted(
        **of(task_id, fence, run), output={}, duration_ms=1, exit_code=0, usage=UsageFigures()
    )


def failed(fence: int, *, task_id: str = "a", run: int = 1, retries: int = 0) -> TaskFailed:
    return TaskFailed(
        **of(task_id, fence, run),
        error="no",
        error_category="validation",
        retry_count=retries,
        source="worker",
    )


def redriven(fence: int, *, task_id: str = "a", run: int = 2, job_run: int = 2) -> TaskRedriven:
    return TaskRedriven(**of(task_id, fence, run), job_run=job_run, previous_status="failed")


def created(*task_ids: str) -> JobCreated:
    tasks = tuple(CreatedTask(task_id=task_id, name="scrape") for task_id in task_ids)
    return JobCreated(
        job_id=JOB_ID, request_id=JOB_ID, run=1, tasks=tasks, total_tasks=len(task_ids)
    )
