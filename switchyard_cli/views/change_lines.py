"""A job as it happens, one plain line per change: for logs and pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard_cli.terminal import clean
from switchyard_cli.views.job_table import in_running_order
from switchyard_cli.views.statuses import COMPLETED
from switchyard_cli.views.wording import (
    cost,
    counted,
    duration,
    is_of_earlier_run,
    job_seconds,
    job_status,
    own_error,
    run_of,
    task_elapsed,
    task_status,
    total_cost,
)

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.jobs import JobView, TaskSummary
    from switchyard.ports import Clock


class ChangeLines:
    """Print what has changed since the last look; nothing that settled in an earlier run."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._clock = clock
        self._reported: dict[tuple[str, str], str] = {}
        self._seconds = 0.0

    def show(self, job: JobView, note: str | None = None) -> None:
        now_ms = self._clock.now_ms()
        if not self._reported:
            self._say([_first_line(job)])
        since_start = self._clock_of(job, now_ms)
        for _, task in in_running_order(job.tasks):
            if is_of_earlier_run(task, job):
                continue
            status = task_status(task)
            if self._is_news(("task", task.task_id), f"{status} {task.attempt}"):
                self._say([since_start, f"{task.task_id} {status}", *_task_facts(task, now_ms)])
        if self._is_news(("job", job.job_id), job_status(job)):
            self._say([since_start, f"job {job_status(job)}", total_cost(job)])
        if self._is_news(("note", ""), note or "") and note:
            self._say([since_start, note])

    def _clock_of(self, job: JobView, now_ms: int) -> str:
        """Return the time of the run, which never goes back: our clock may be before the API's."""
        self._seconds = max(self._seconds, job_seconds(job, now_ms=now_ms))
        return duration(self._seconds).rjust(9)

    def _is_news(self, subject: tuple[str, str], state: str) -> bool:
        if self._reported.get(subject) == state:
            return False
        self._reported[subject] = state
        return True

    def _say(self, facts: list[str]) -> None:
        self._console.print("  ".join(filter(None, facts)), soft_wrap=True)


def _first_line(job: JobView) -> str:
    facts = [f"{job.job_id} {job.name}: {counted(job.total_tasks, 'task')}"]
    earlier = sum(is_of_earlier_run(t, job) and t.status == COMPLETED for t in job.tasks)
    if run_of(job):
        facts += [run_of(job), f"{earlier:,} completed before"]
    return ", ".join(facts)


def _task_facts(task: TaskSummary, now_ms: int) -> list[str]:
    return [
        task_elapsed(task, now_ms=now_ms) if task.settled_at else "",
        f"attempt {task.attempt}" if task.attempt > 1 else "",
        cost(task.cost_usd),
        clean(own_error(task)),
    ]
