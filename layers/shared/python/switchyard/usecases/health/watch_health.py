"""Checks the health of a stage, and reports it to people and to the event log."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from switchyard.contracts.events import CheckedTask, HealthSummary, TaskHealthCheck
from switchyard.domain.alerts.alerts import PublishResult
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.stage_incidents import health_incident
from switchyard.domain.health import health
from switchyard.domain.health.health import HealthReport
from switchyard.domain.health.presence import PresentWorker, those_there
from switchyard.ports import Presence
from switchyard.usecases.events.emitting import Emitter, Fact
from switchyard.usecases.health.check_tasks import TaskChecker

MAX_LISTED: Final = 500  # the rest is counted; an event is no place for thousands


class PublishesAlerts(Protocol):
    def publish(self, incident: Incident) -> PublishResult: ...


@dataclass(frozen=True, kw_only=True)
class HealthWatch:
    checker: TaskChecker
    presence: Presence
    alerts: PublishesAlerts
    emitter: Emitter
    tenant: str | None
    """The tenant whose log has an event of every check, even if none of its tasks runs."""

    def run(self) -> tuple[HealthReport, PublishResult]:
        """Raise `Unavailable`."""
        report = replace(self.checker.check(), sick_workers=self._sick_workers())
        try:
            result = self.alerts.publish(health_incident(report))
        finally:  # the event is emitted even if the alert could not be published
            self.emitter.emit(*checked(report, tenant=self.tenant))
        return report, result

    def _sick_workers(self) -> tuple[PresentWorker, ...]:
        there = those_there(self.presence.all(), now_ms=self.checker.clock.now_ms())
        return tuple(worker for worker in there if worker.sick)


def checked(report: HealthReport, *, tenant: str | None) -> Iterator[Fact]:
    """Yield one event for each tenant, about its own tasks only."""
    tenants = {task.ref.tenant for task in report.tasks} | ({tenant} if tenant else set())
    for number, name in enumerate(sorted(tenants)):
        theirs = tuple(task for task in report.tasks if task.ref.tenant == name)
        event = _event(HealthReport(checked_at_ms=report.checked_at_ms, tasks=theirs), number)
        yield Fact(name, event, report.checked_at_ms)


def _event(report: HealthReport, number: int) -> TaskHealthCheck:
    """Make an event; `number` gives each event of one check an id of its own."""
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
