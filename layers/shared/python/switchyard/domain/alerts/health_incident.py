"""The health of what is being processed, as an incident."""

import hashlib
from collections.abc import Sequence
from typing import Final

from switchyard.domain.alerts.incidents import Incident, Section, Severity
from switchyard.domain.health.health import CheckedTask, Health, HealthReport
from switchyard.domain.health.presence import PresentWorker

HEALTH_SUBJECT: Final = "health"

SHOWN: Final = 100
"""Nobody reads more; how many more there are is told."""

_KINDS: Final = (
    (Health.CRITICAL, "stuck task", "stuck tasks"),
    (Health.OVERTIME, "overtime task", "overtime tasks"),
    (Health.NOT_PROGRESSING, "task alive but not progressing", "tasks alive but not progressing"),
    (Health.WARNING, "task with delayed heartbeats", "tasks with delayed heartbeats"),
)
_RED: Final = (Health.CRITICAL, Health.OVERTIME)


def health_incident(report: HealthReport) -> Incident:
    unwell = [task for task in report.tasks if task.health is not Health.HEALTHY]
    red = any(task.health in _RED for task in unwell)
    sick = report.sick_workers
    summary = _summary(report, red=red) if unwell or sick else "All running tasks are well"
    return Incident(
        subject=HEALTH_SUBJECT,
        severity=Severity.CRITICAL if red else Severity.WARNING,
        open=bool(unwell or sick),
        title=summary,
        sections=(*map(_worker_section, sick[:SHOWN]), *_sections(unwell)),
        fingerprint=_fingerprint(unwell, sick),
        news=f"Now: {summary}" if unwell or sick else "Over: all running tasks are well again",
    )


def _summary(report: HealthReport, *, red: bool) -> str:
    """A red one names both kinds of red, whether there are any or not."""
    parts = [_sick(len(report.sick_workers))] if report.sick_workers else []
    for health, one, several in _KINDS:
        count = len(report.of(health))
        if count or (red and health in _RED):
            parts.append(f"{count} {one if count == 1 else several}")
    return ", ".join(parts)


def _sick(count: int) -> str:
    return "1 sick worker" if count == 1 else f"{count:,} sick workers"


def _worker_section(worker: PresentWorker) -> Section:
    return Section(
        title=worker.worker_id,
        facts=(
            ("its machine", worker.sick or ""),
            ("effect", f"it takes no tasks; {worker.busy} of {worker.slots} slots still run one"),
            ("what to do", "stop it, and let the service start another, if it does not recover"),
        ),
    )


def _sections(unwell: list[CheckedTask]) -> tuple[Section, ...]:
    more = len(unwell) - SHOWN
    shown = tuple(map(_section, unwell[:SHOWN]))
    return (*shown, Section(title=f"and {more:,} more tasks")) if more > 0 else shown


def _section(task: CheckedTask) -> Section:
    silent = _minutes(task.silent_ms)
    return Section(
        title=task.ref.request_id,
        facts=(
            ("health", f"{task.health.value.replace('_', ' ')}: {task.reason}"),
            ("running for", _minutes(task.elapsed_ms)),
            ("last event", f"{task.last_event_type}, {silent} ago"),
            ("worker", task.worker_id or "unknown"),
            ("definition", task.definition),
            ("tenant", task.ref.tenant),
        ),
    )


def _fingerprint(unwell: list[CheckedTask], sick: Sequence[PresentWorker]) -> str:
    tasks = (f"{task.ref.tenant}/{task.ref.request_id}/{task.health}" for task in unwell)
    lines = sorted((*tasks, *(f"worker {worker.worker_id}" for worker in sick)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _minutes(duration_ms: int) -> str:
    return f"{duration_ms // 60_000} min"
