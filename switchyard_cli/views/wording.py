"""Numbers and times as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard.client.errors import sentence
from switchyard.client.statuses import COMPLETED, FINAL

if TYPE_CHECKING:
    from datetime import datetime

    from switchyard.contracts.jobs import JobView, TaskSummary

__all__ = [
    "byte_count",
    "cost",
    "counted",
    "duration",
    "elapsed",
    "is_of_earlier_run",
    "job_seconds",
    "job_status",
    "own_error",
    "run_of",
    "sentence",
    "task_elapsed",
    "task_status",
    "total_cost",
]


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def elapsed(since: datetime, until: datetime | None, *, now_ms: int) -> str:
    return duration(_seconds(since, until, now_ms=now_ms))


def _seconds(since: datetime, until: datetime | None, *, now_ms: int) -> float:
    end = until.timestamp() if until else now_ms / 1000
    return max(0.0, end - since.timestamp())  # our clock may be behind the API's


def task_elapsed(task: TaskSummary, *, now_ms: int) -> str:
    return elapsed(task.started_at, task.settled_at, now_ms=now_ms) if task.started_at else ""


def is_redriving(job: JobView) -> bool:
    """Whether a redrive prepares the next run: all that has settled did so before it."""
    return job.completed_at is not None and job.status not in FINAL


def run_of(job: JobView) -> str:
    """Return which run of the job it is, unless that is the first."""
    run = job.run + is_redriving(job)
    return f"run {run}" if run > 1 else ""


def is_of_earlier_run(task: TaskSummary, job: JobView) -> bool:
    """Whether a task has settled in an earlier run, and so far not again.

    Times show it: a task counts its own runs, and not every redrive reopens it.
    """
    if task.status not in FINAL or task.settled_at is None:
        return False
    began = job.reopened_at
    return is_redriving(job) or (began is not None and task.settled_at < began)


def job_seconds(job: JobView, *, now_ms: int) -> float:
    """Count from the submission; after a redrive, from the beginning of its run."""
    if is_redriving(job):
        return 0.0
    return _seconds(job.reopened_at or job.created_at, job.completed_at, now_ms=now_ms)


def job_status(job: JobView) -> str:
    """Return the status of a job, and whether it is being cancelled."""
    return _with_cancellation(job.status, asked=_is_cancelled(job))


def task_status(task: TaskSummary, job: JobView | None = None) -> str:
    """Return the status of a task, and whether it is being cancelled, perhaps with its job."""
    with_its_job = job is not None and _is_cancelled(job)
    return _with_cancellation(task.status, asked=with_its_job or bool(task.cancel_requested))


def _is_cancelled(job: JobView) -> bool:
    """Whether that was asked for in this run; a redrive begins with what the last one left."""
    return job.cancel_requested and not is_redriving(job)


def _with_cancellation(status: str, *, asked: bool) -> str:
    return f"{status}, being cancelled" if asked and status not in FINAL else status


def own_error(task: TaskSummary) -> str:
    """Return the error of a task, unless a later attempt has completed it."""
    return "" if task.status == COMPLETED else task.error or ""


def cost(usd: float) -> str:
    return f"${usd:.4f}" if usd else ""


def total_cost(job: JobView) -> str:
    return cost(sum(task.cost_usd for task in job.tasks))


def byte_count(number: int) -> str:
    if number < 1_000:
        return f"{number} B"
    return f"{number / 1_000:.1f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
