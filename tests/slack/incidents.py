"""Incidents that tests publish."""

from dataclasses import replace

from switchyard.domain.alerts.incidents import Button, Incident, Section, Severity
from switchyard.domain.alerts.stage_incidents import health_incident
from switchyard.domain.alerts.subjects import JobSubject
from switchyard.domain.health.health import CheckedTask, Health, HealthReport, worst_first
from switchyard.domain.ids import JobRef, TaskRef


def job_subject(job_id: str, tenant: str = "acme") -> JobSubject:
    return JobSubject(JobRef(tenant, job_id))


SUBJECT = job_subject("job-1")
KEY = str(SUBJECT)


def an_incident(state: str = "failed", **facts: object) -> Incident:
    known = Incident(
        subject=SUBJECT,
        severity=Severity.CRITICAL,
        open=True,
        title=f"A job {state}",
        sections=(Section(title="brand", facts=(("job", "job-1"),), text="no such host"),),
        fingerprint=state,
        news=f"Now it {state}",
        buttons=(Button(action="redrive", tenant="acme", job_id="job-1", run=1),),
    )
    return replace(known, **facts)  # type: ignore[arg-type]


def over(**facts: object) -> Incident:
    known = {"open": False, "sections": (), "news": "Over: it completed"}
    return an_incident("completed", **known | facts)


def a_check(count: int, *, health: Health = Health.CRITICAL, elapsed: int = 20) -> HealthReport:
    tasks = [
        CheckedTask(
            ref=TaskRef("acme", "job-1", f"task-{number:03d}"),
            definition="scrape",
            health=health,
            reason=f"no sign of life for {elapsed - 5} min",
            elapsed_ms=elapsed * 60_000,
            silent_ms=(elapsed - 5) * 60_000,
            last_event_type="Task Heartbeat",
            worker_id="worker-1",
        )
        for number in range(count)
    ]
    return HealthReport(checked_at_ms=0, tasks=worst_first(tasks))


def stuck(count: int, *, elapsed: int = 20) -> Incident:
    return health_incident(a_check(count, elapsed=elapsed))
