"""Numbers and times as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard.client.errors import sentence

if TYPE_CHECKING:
    from datetime import datetime

    from switchyard.contracts.jobs import JobView, TaskSummary

__all__ = [
    "byte_count",
    "cost",
    "counted",
    "duration",
    "elapsed",
    "job_elapsed",
    "sentence",
    "task_elapsed",
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
    end = until.timestamp() if until else now_ms / 1000
    return duration(max(0.0, end - since.timestamp()))  # our clock may be behind the API's


def task_elapsed(task: TaskSummary, *, now_ms: int) -> str:
    return elapsed(task.started_at, task.settled_at, now_ms=now_ms) if task.started_at else ""


def job_elapsed(job: JobView, *, now_ms: int) -> str:
    """Count from the submission; after a redrive, from the first start of its run."""
    if job.run == 1:
        return elapsed(job.created_at, job.completed_at, now_ms=now_ms)
    starts = [task.started_at for task in job.tasks if task.run == job.run and task.started_at]
    return elapsed(min(starts), job.completed_at, now_ms=now_ms) if starts else duration(0)


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
