"""An incident: what is wrong with one subject at this moment, in plain text.

An incident says what *is*. Whether that differs from what was posted before is decided in
`alerts.py`; how it looks in a chat is decided by the adapter of that chat.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from switchyard.domain.alerts.subjects import Subject

Action = Literal["redrive", "cancel", "approve", "reject"]


class Severity(StrEnum):
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A paragraph of an incident. Its texts may come from tenants and are not escaped."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    text: str = ""
    commands: tuple[str, ...] = ()
    """Commands that a reader can type in a shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An action on one run of a job, or on one of its approvals, that a reader may ask for."""

    action: Action
    tenant: str
    job_id: str
    run: int
    """The job's, or the approval's."""
    task_id: str | None = None
    """The approval."""
    basis: str | None = None
    """Stands for what the reader decides on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentState:
    """The part of an incident that decides whether it has to be posted or updated."""

    subject: Subject
    severity: Severity
    open: bool
    """Whether the incident is open; `False` if it is over, or never began."""
    fingerprint: str
    """Two states of an open incident with the same fingerprint are the same to a reader.

    No elapsed time is part of it.
    """
    announced: bool = False
    """Whether it is published although it is over and no reader has seen it open."""
    channel: str | None = None
    """The channel to post to; `None` stands for the channel of the stage."""

    @property
    def name(self) -> str:
        """The state in one word and its fingerprint, for ids of what is published about it."""
        return f"{'open' if self.open else 'over'} {self.fingerprint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(IncidentState):
    """An incident with everything that a reader sees of it."""

    title: str
    sections: tuple[Section, ...] = ()
    news: str = ""
    """The line about this change that is posted in the thread."""
    buttons: tuple[Button, ...] = ()
