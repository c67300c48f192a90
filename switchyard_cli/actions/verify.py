"""Holds what the log says of a job against what the state table says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from switchyard.client.event_source import EventSource
from switchyard.contracts.events import job_event_facts, task_event_facts
from switchyard.contracts.events.views import EventsAsked
from switchyard.contracts.wire import Written
from switchyard.domain.events.fold import JobFold, fold_job
from switchyard.domain.events.verification import Difference, JobRecord, TaskRecord, compare
from switchyard_cli.views.statuses import COMPLETED, FINAL

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView, TaskSummary
    from switchyard.ports import Clock
    from switchyard_cli.connections.api import Api

PATIENCE_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 0.5
IN_FLIGHT: Final = timedelta(minutes=1)
"""The time after a job has settled in which its last events may still be on their way."""


class DifferenceView(Written):
    path: str
    log: Any
    table: Any
    may_be_delay: bool


class Verification(Written):
    job_id: str
    agree: bool
    tasks: int
    events: int
    differences: tuple[DifferenceView, ...] = ()


@dataclass
class Verifier:
    api: Api
    clock: Clock

    def __post_init__(self) -> None:
        self._outputs: dict[tuple[str, int], Any] = {}

    def verify(self, job_id: str) -> Verification:
        """Compare log and state; look again for a while if a difference may be caused by delay."""
        deadline = self.clock.monotonic() + PATIENCE_SECONDS
        while True:
            found = self._look(job_id)
            delayed = any(difference.may_be_delay for difference in found.differences)
            if not delayed or self.clock.monotonic() >= deadline:
                return found
            self.clock.sleep(PAUSE_SECONDS)

    def _look(self, job_id: str) -> Verification:
        job = self.api.job(job_id)
        source = EventSource.of_job(self.api, EventsAsked(), job_id)
        events = [event.stored() for event in source.every()]
        log = fold_job(job_event_facts(events), task_event_facts(events))
        differences = compare(log, self._record(job, log), in_flight=self._is_in_flight(job))
        return Verification(
            job_id=job_id,
            agree=not differences,
            tasks=len(job.tasks),
            events=len(events),
            differences=tuple(map(_view, differences)),
        )

    def _is_in_flight(self, job: JobView) -> bool:
        if job.status not in FINAL or job.completed_at is None:
            return True
        return self.clock.now_ms() / 1000 - job.completed_at.timestamp() < IN_FLIGHT.total_seconds()

    def _record(self, job: JobView, log: JobFold | None) -> JobRecord:
        return JobRecord(
            status=job.status,
            run=job.run,
            total_tasks=job.total_tasks,
            failed_task_id=job.failed_task_id,
            tasks={task.task_id: self._task_record(job, task, log) for task in job.tasks},
        )

    def _task_record(self, job: JobView, task: TaskSummary, log: JobFold | None) -> TaskRecord:
        outcome: dict[str, Any] = {"costUsd": task.cost_usd, "error": task.error}
        reported = log.tasks.get(task.task_id) if log else None
        if task.status == COMPLETED and reported and "output" in (reported.outcome or {}):
            outcome["output"] = self._output(job.job_id, task)
        return TaskRecord(status=task.status, run=task.run, attempt=task.attempt, outcome=outcome)

    def _output(self, job_id: str, task: TaskSummary) -> Any:
        """Return the output of a settled task, which is read once for each run."""
        key = task.task_id, task.run
        if key not in self._outputs:
            self._outputs[key] = self.api.task(job_id, task.task_id).output
        return self._outputs[key]


def _view(difference: Difference) -> DifferenceView:
    return DifferenceView(**asdict(difference))
