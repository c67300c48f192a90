"""What happens in a job of one task, told as events."""

from typing import Any

from switchyard.contracts.events import (
    CreatedTask,
    JobCompleted,
    JobCreated,
    TaskCompleted,
    TaskPending,
    UsageFigures,
)
from tests.unit.cli.fakes.api import JOB_ID, a_job, a_task

REQUEST_ID = f"{JOB_ID}__scrape"
JOB_ROUTE = f"GET /jobs/{JOB_ID}/events"
DONE = a_job("completed", a_task("scrape", "completed"))
RUNNING = a_job("processing", a_task("scrape", "processing"))


def of(task_id: str = "scrape", *, run: int = 1) -> dict[str, Any]:
    identity = {"request_id": f"{JOB_ID}__{task_id}", "job_id": JOB_ID}
    return identity | {"run": run, "fence": 2}


def of_job(run: int = 1) -> dict[str, Any]:
    return {"job_id": JOB_ID, "run": run}


def created() -> JobCreated:
    task = CreatedTask(task_id="scrape", name="scrape")
    return JobCreated(**of_job(), request_id=JOB_ID, tasks=(task,), total_tasks=1)


def pending(run: int = 1) -> TaskPending:
    return TaskPending(**of(run=run), name="scrape-page")


def ended(run: int = 1) -> TaskCompleted:
    usage = UsageFigures(input_tokens=12, output_tokens=30, cost_usd=0.0125)
    return TaskCompleted(**of(run=run), output={}, duration_ms=1234, exit_code=0, usage=usage)


def job_ended(run: int = 1) -> JobCompleted:
    return JobCompleted(**of_job(run), total_tasks=1, task_statuses={"scrape": "completed"})
