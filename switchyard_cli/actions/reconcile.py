"""Compares a restored state table with the log, which was not restored with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from switchyard.client.errors import NotFound
from switchyard.client.event_source import EventSource
from switchyard.contracts.events import JobCancelled, JobCompleted, JobCreated, JobFailed
from switchyard.contracts.events.views import EventsAsked
from switchyard.contracts.wire import Written
from switchyard_cli.views.statuses import FINAL

if TYPE_CHECKING:
    from switchyard_cli.connections.api import Api


class Finding(StrEnum):
    LOST = "lost"
    """The job was accepted after the moment: nothing of it is in the table."""
    CANCELLED = "cancelled"
    """The job was cancelled after the moment, and goes on now."""
    RUNS_AGAIN = "runs again"
    """The job ended after the moment: the work that it did since then is done once more."""


WHAT_TO_DO: Final = {
    Finding.LOST: "submit it again",
    Finding.CANCELLED: "cancel it again",
    Finding.RUNS_AGAIN: "nothing, unless its tasks must not run twice: then cancel it",
}
_ENDS: Final = (JobCompleted.event_type, JobFailed.event_type)


class JobFinding(Written):
    job_id: str
    finding: Finding
    status: str | None
    """The job's status in the table; `None` if the job is not there."""


class Reconciliation(Written):
    since: str
    looked_at: int
    findings: tuple[JobFinding, ...]


@dataclass(frozen=True)
class Reconciler:
    api: Api

    def reconcile(self, since: str) -> Reconciliation:
        """Compare log and table; `since` is the moment that the table was restored to."""
        created = self._jobs(since, JobCreated.event_type)
        cancelled = self._jobs(since, JobCancelled.event_type)
        ended = {job for name in _ENDS for job in self._jobs(since, name)}
        jobs = sorted(created | cancelled | ended)
        found = (self._finding(job, cancelled=job in cancelled, ended=job in ended) for job in jobs)
        findings = tuple(one for one in found if one is not None)
        return Reconciliation(since=since, looked_at=len(jobs), findings=findings)

    def _jobs(self, since: str, event_type: str) -> set[str]:
        source = EventSource(self.api, EventsAsked(type=event_type, since=since))
        return set(self._ids(source))

    def _ids(self, source: EventSource) -> Iterator[str]:
        for event in source.every():
            yield event.entity_id

    def _finding(self, job_id: str, *, cancelled: bool, ended: bool) -> JobFinding | None:
        try:
            status = self.api.job(job_id).status
        except NotFound:
            return JobFinding(job_id=job_id, finding=Finding.LOST, status=None)
        if status in FINAL or not (cancelled or ended):
            return None
        finding = Finding.CANCELLED if cancelled else Finding.RUNS_AGAIN
        return JobFinding(job_id=job_id, finding=finding, status=status)
