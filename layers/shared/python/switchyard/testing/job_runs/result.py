"""The results of a job and its tasks in a test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from switchyard.contracts.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The result of one task."""

    task_id: str
    status: str
    """The status as `switchyard job` shows it: completed, failed, skipped or cancelled."""
    output: Any = None
    error: str | None = None
    """The reason why the task failed, or why it was skipped."""
    attempts: int = 0
    inputs: Sequence[Any] = ()
    """The input of each attempt, with its references filled in."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files that the task left in its folder `artifacts`, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """The result of a job; `result["draft"]` is one of its tasks."""

    status: str
    tasks: Mapping[str, TaskResult]
    started: Sequence[str]
    """The tasks in the order in which their attempts began, each once for every attempt."""
    events: Sequence[Event]
    """All events that were emitted, in order."""
    seconds: float
    """The time that the job would have taken, by the clock of the test."""

    def __getitem__(self, task_id: str) -> TaskResult:
        return self.tasks[task_id]

    @property
    def statuses(self) -> dict[str, str]:
        return {name: task.status for name, task in self.tasks.items()}

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs of the tasks that completed."""
        done = self.tasks.items()
        return {name: task.output for name, task in done if task.status == "completed"}

    @property
    def errors(self) -> dict[str, str]:
        return {name: task.error for name, task in self.tasks.items() if task.error}
