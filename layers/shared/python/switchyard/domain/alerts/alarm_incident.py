"""An alarm of CloudWatch, as an incident: as long as it is raised."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.alerts.incidents import Incident, Section, Severity

SUBJECT_PREFIX: Final = "alarm/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    name: str
    raised: bool
    meaning: str
    """What it means and what to do, in the words of who set it."""
    reason: str
    """CloudWatch's own."""


def alarm_subject(name: str) -> str:
    return f"{SUBJECT_PREFIX}{name}"


def alarm_incident(alarm: Alarm, *, stage: str) -> Incident:
    label = alarm.name.removeprefix(f"switchyard-{stage}-").replace("-", " ")
    title = f"Alarm: {label}" if alarm.raised else f"Alarm is over: {label}"
    facts = (("alarm", alarm.name), ("because", alarm.reason))
    return Incident(
        subject=alarm_subject(alarm.name),
        severity=Severity.CRITICAL,
        open=alarm.raised,
        title=title,
        sections=(Section(title=alarm.meaning or label, facts=facts),) if alarm.raised else (),
        fingerprint="raised" if alarm.raised else "over",
        news=title,
    )
