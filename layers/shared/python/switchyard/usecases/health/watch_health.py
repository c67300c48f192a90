"""The health check of a stage: looks, tells people, and tells the log."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from switchyard.contracts.events import CheckedTask, HealthSummary, TaskHealthCheck
from switchyard.domain.alerts.health_incident import health_incident
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.health import health
from switchyard.domain.health.health import HealthReport
from switchyard.domain.health.presence import PresentWorker, those_there
from switchyard.ports import Presence
from switchyard.usecases.alerts.tell_alone import Told
from switchyard.usecases.events.emitting import Emitter, Fact
from switchyard.usecases.health.check_tasks import TaskChecker

MAX_LISTED: Final = 500  # the rest is counted; an event is no place for thousands


class Tells(Protocol):
    def tell(self, incident: Incident) -> Told: ...


@dataclass(frozen=True, kw_only=True)
class HealthWatch:
    checker: TaskChecker
    presence: Presence
    teller: Tells
    emitter: Emitter
    tenant: str | None
    """In whose log a check is told of that found nothing of theirs; `None`: in nobody's."""

    def run(self) -> tuple[HealthReport, Told]:
        """Raise `Unavailable`."""
        report = replace(self.checker.check(), sick_workers=self._sick_workers())
        try:
            told = self.teller.tell(health_incident(report))
        finally:  # what was seen is in the log, even if nobody could be told
            self.emitter.emit(*checked(report, tenant=self.tenant))
        return report, told

    def _sick_workers(self) -> tuple[PresentWorker, ...]:
        there = those_there(self.presence.all(), now_ms=self.checker.clock.now_ms())
        return tuple(worker for worker in there if worker.sick)


def checked(report: HealthReport, *, tenant: str | None) -> Iterator[Fact]:
    """One event for each tenant, of nothing but its own tasks."""
    tenants = {task.ref.tenant for task in report.tasks} | ({tenant} if tenant else set())
    for number, name in enumerate(sorted(tenants)):
        theirs = tuple(task for task in report.tasks if task.ref.tenant == name)
        said = _said(HealthReport(checked_at_ms=report.checked_at_ms, tasks=theirs), number)
        yield Fact(name, said, report.checked_at_ms)


def _said(report: HealthReport, number: int) -> TaskHealthCheck:
    """`number` tells the events of one check apart: they have ids of their own."""
    return TaskHealthCheck(
        fence=number,
        checked_at=report.checked_at_ms,
        summary=HealthSummary.of(report),
        tasks=tuple(map(_listed, report.tasks[:MAX_LISTED])),
    )


def _listed(task: health.CheckedTask) -> CheckedTask:
    return CheckedTask(
        request_id=task.ref.request_id,
        health=task.health.value,
        elapsed=task.elapsed_ms,
        time_since_last_event=task.silent_ms,
        last_event_type=task.last_event_type,
        worker_id=task.worker_id,
    )
