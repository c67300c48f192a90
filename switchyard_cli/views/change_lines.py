"""A job as it happens, one plain line per change: for logs and pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchyard_cli.terminal import clean
from switchyard_cli.views.job_table import in_running_order
from switchyard_cli.views.wording import cost, counted, job_elapsed, task_elapsed, total_cost

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.jobs import JobView, TaskSummary
    from switchyard.ports import Clock


class ChangeLines:
    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._clock = clock
        self._reported: dict[str, str] = {}

    def show(self, job: JobView, note: str | None = None) -> None:
        now_ms = self._clock.now_ms()
        if not self._reported:
            self._say([f"{job.job_id} {job.name}: {counted(job.total_tasks, 'task')}"])
        since_start = job_elapsed(job, now_ms=now_ms).rjust(9)
        for _, task in in_running_order(job.tasks):
            if self._is_news(task.task_id, f"{task.status} {task.attempt}"):
                self._say([since_start, *_task_facts(task, now_ms)])
        if self._is_news(job.job_id, job.status):
            self._say([since_start, f"job {job.status}", total_cost(job)])
        if self._is_news("note", note or "") and note:
            self._say([since_start, note])

    def _is_news(self, subject: str, state: str) -> bool:
        if self._reported.get(subject) == state:
            return False
        self._reported[subject] = state
        return True

    def _say(self, facts: list[str]) -> None:
        self._console.print("  ".join(filter(None, facts)), soft_wrap=True)


def _task_facts(task: TaskSummary, now_ms: int) -> list[str]:
    return [
        f"{task.task_id} {task.status}",
        task_elapsed(task, now_ms=now_ms) if task.settled_at else "",
        f"attempt {task.attempt}" if task.attempt > 1 else "",
        cost(task.cost_usd),
        clean(task.error or ""),
    ]
