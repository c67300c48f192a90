"""Incidents about the stage: the health of running tasks, CloudWatch alarms and dead letters."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from switchyard.domain.alerts.incidents import Incident, Section, Severity
from switchyard.domain.alerts.subjects import (
    QUARANTINE,
    AlarmSubject,
    DeadLettersSubject,
    HealthSubject,
)
from switchyard.domain.causes import cause_of
from switchyard.domain.health.health import CheckedTask, Health, HealthReport
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.health.unserved import UnservedCode, UnservedGroup

SHOWN: Final = 100
"""The most tasks, and the most workers, that an incident shows; the rest is counted."""
NEWEST_SHOWN: Final = 3
CAUSES_SHOWN: Final = 10
EXACT_UP_TO: Final = 10
"""The count up to which each further dead letter changes the fingerprint."""

_KINDS: Final = (
    (Health.CRITICAL, "stuck task", "stuck tasks"),
    (Health.OVERTIME, "overtime task", "overtime tasks"),
    (Health.NOT_PROGRESSING, "task alive but not progressing", "tasks alive but not progressing"),
    (Health.WARNING, "task with delayed heartbeats", "tasks with delayed heartbeats"),
)
_RED: Final = (Health.CRITICAL, Health.OVERTIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A CloudWatch alarm as it is at this moment."""

    name: str
    raised: bool
    meaning: str
    """The alarm's description: what it means and what to do."""
    reason: str
    """The reason why CloudWatch changed the alarm's state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterFacts:
    """The facts about one archived dead letter that people are shown."""

    message_id: str
    queue: str
    reason: str
    event_type: str | None
    entity: str | None
    parked_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLettersSeen:
    """The archived dead letters of one subject."""

    subject: DeadLettersSubject
    count: int
    more: bool
    """Whether there are more than were counted."""
    newest: tuple[DeadLetterFacts, ...]
    """The newest of them, latest first, as far as they were read."""


def health_incident(report: HealthReport) -> Incident:
    """The incident of running tasks that are not healthy, sick workers and unserved code."""
    unwell = [task for task in report.tasks if task.health is not Health.HEALTHY]
    red = any(task.health in _RED for task in unwell)
    sick, unserved = report.sick_workers, report.unserved
    wrong = bool(unwell or sick or unserved or report.unserved_groups)
    summary = _health_summary(report, red=red) if wrong else "All running tasks are well"
    return Incident(
        subject=HealthSubject(),
        severity=Severity.CRITICAL if red else Severity.WARNING,
        open=wrong,
        title=summary,
        sections=(
            *map(_worker_section, sick[:SHOWN]),
            *map(_unserved_section, unserved[:SHOWN]),
            *map(_unserved_group_section, report.unserved_groups[:SHOWN]),
            *_task_sections(unwell),
        ),
        fingerprint=_health_fingerprint(unwell, report),
        news=f"Now: {summary}" if wrong else "Over: all running tasks are well again",
    )


def alarm_incident(alarm: Alarm, *, stage: str) -> Incident:
    """The incident of an alarm, which lasts as long as the alarm is raised."""
    label = alarm.name.removeprefix(f"switchyard-{stage}-").replace("-", " ")
    title = f"Alarm: {label}" if alarm.raised else f"Alarm is over: {label}"
    facts = (("alarm", alarm.name), ("because", alarm.reason))
    return Incident(
        subject=AlarmSubject(alarm.name),
        severity=Severity.CRITICAL,
        open=alarm.raised,
        title=title,
        sections=(Section(title=alarm.meaning or label, facts=facts),) if alarm.raised else (),
        fingerprint="raised" if alarm.raised else "over",
        news=title,
    )


def dead_letters_incident(seen: DeadLettersSeen, *, stage: str) -> Incident:
    """The incident of archived dead letters, which lasts as long as there are any."""
    title = _dead_letters_title(seen)
    return Incident(
        subject=seen.subject,
        severity=Severity.CRITICAL,
        open=seen.count > 0,
        title=title,
        sections=_dead_letters_sections(seen, stage) if seen.count else (),
        fingerprint=_dead_letters_fingerprint(seen),
        news=f"Now: {title}" if seen.count else f"Over: {title}",
    )


def _health_summary(report: HealthReport, *, red: bool) -> str:
    """A summary that names both red kinds whenever there is a red task of either kind."""
    parts = [_sick_workers(len(report.sick_workers))] if report.sick_workers else []
    waiting = sum(code.tasks for code in report.unserved)
    if waiting:
        noun = "task waits" if waiting == 1 else "tasks wait"
        parts.append(f"{waiting:,} {noun} for code that no worker serves")
    parts += [
        f"nobody can serve group {one.group} ({one.tasks:,} waiting)"
        for one in report.unserved_groups
    ]
    for health, one, several in _KINDS:
        count = len(report.of(health))
        if count or (red and health in _RED):
            parts.append(f"{count} {one if count == 1 else several}")
    return ", ".join(parts)


def _sick_workers(count: int) -> str:
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


def _unserved_section(unserved: UnservedCode) -> Section:
    package = unserved.code.partition("@")[0]
    return Section(
        title=unserved.code,
        facts=(
            ("waiting", f"{unserved.tasks:,} for up to {_minutes(unserved.waiting_ms)}"),
            ("first task", unserved.first.request_id),
            ("tenant", unserved.first.tenant),
            (
                "what to do",
                f"start workers with this version of {package}, or push the version that they have "
                "and submit the job again",
            ),
        ),
    )


def _unserved_group_section(unserved: UnservedGroup) -> Section:
    return Section(
        title=f"Nobody can serve group {unserved.group}",
        facts=(
            ("waiting", f"{unserved.tasks:,} for up to {_minutes(unserved.waiting_ms)}"),
            ("first task", unserved.first.request_id),
            ("tenant", unserved.first.tenant),
            (
                "what to do",
                f"let a pool serve it: switchyard pools subscribe POOL {unserved.group}",
            ),
        ),
    )


def _task_sections(unwell: list[CheckedTask]) -> tuple[Section, ...]:
    more = len(unwell) - SHOWN
    shown = tuple(map(_task_section, unwell[:SHOWN]))
    return (*shown, Section(title=f"and {more:,} more tasks")) if more > 0 else shown


def _task_section(task: CheckedTask) -> Section:
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


def _health_fingerprint(unwell: list[CheckedTask], report: HealthReport) -> str:
    tasks = (f"{task.ref.tenant}/{task.ref.request_id}/{task.health}" for task in unwell)
    workers = (f"worker {worker.worker_id}" for worker in report.sick_workers)
    codes = (f"code {code.code}" for code in report.unserved)
    groups = (f"group {one.group}" for one in report.unserved_groups)
    return _digest(sorted((*tasks, *workers, *codes, *groups)))


def _minutes(duration_ms: int) -> str:
    return f"{duration_ms // 60_000} min"


def _dead_letters_title(seen: DeadLettersSeen) -> str:
    queue = seen.subject.queue
    where = "parked by version 0.1.0" if queue == QUARANTINE else f"parked from {queue}"
    if not seen.count:
        return f"No messages are {where} any more"
    number = f"more than {seen.count:,}" if seen.more else f"{seen.count:,}"
    return f"{number} {'message' if seen.count == 1 else 'messages'} {where}"


def _dead_letters_sections(seen: DeadLettersSeen, stage: str) -> tuple[Section, ...]:
    commands = (
        f"switchyard dlq --stage {stage}",
        f"switchyard dlq show {seen.newest[0].message_id} --stage {stage}" if seen.newest else "",
        f"switchyard dlq redrive --cause CODE --canary --stage {stage}",
    )
    return (
        _causes(seen),
        *map(_dead_letter, seen.newest[:NEWEST_SHOWN]),
        Section(title="What to do", commands=tuple(filter(None, commands))),
    )


def _causes(seen: DeadLettersSeen) -> Section:
    causes = Counter(cause_of(letter.reason) for letter in seen.newest).most_common(CAUSES_SHOWN)
    read = len(seen.newest)
    among = "" if read == seen.count and not seen.more else f" (of the newest {read})"
    return Section(
        title=f"By cause{among}", facts=tuple((f"{count:,}", cause) for cause, count in causes)
    )


def _dead_letter(letter: DeadLetterFacts) -> Section:
    return Section(
        title=letter.event_type or "A message",
        facts=(
            ("entity", letter.entity or "unknown"),
            ("parked at", letter.parked_at),
            ("message", letter.message_id),
            ("queue", letter.queue),
        ),
        text=letter.reason,
    )


def _dead_letters_fingerprint(seen: DeadLettersSeen) -> str:
    """A fingerprint that changes with each cause, and in steps with the count.

    A reader needs no line in the thread for each of a thousand messages.
    """
    causes = sorted({cause_of(letter.reason) for letter in seen.newest})
    return _digest([str(_rounded(seen.count)), *causes])


def _rounded(count: int) -> int:
    """Round down to 10, 20, 50, 100, 200 and so on."""
    if count <= EXACT_UP_TO:
        return count
    power: int = 10 ** (len(str(count)) - 1)
    return next(step * power for step in (5, 2, 1) if step * power <= count)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
