"""What a person is told: one incident per subject, as it is at this moment.

Whoever watches a subject says what *is*; whether that is news, the teller finds out.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Action = Literal["redrive", "cancel"]


class Severity(StrEnum):
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Plain text as others wrote it: rendering makes it harmless."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    text: str = ""
    commands: tuple[str, ...] = ()
    """What to type in a shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    action: Action
    tenant: str
    job_id: str
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    subject: str
    """Stable: `health`, `job/{tenant}/{jobId}`, `task/{tenant}/{requestId}`, `letters/{queue}`,
    `alarm/{name}`.
    """
    severity: Severity
    open: bool
    """`False`: it is over, or there was none."""
    title: str
    sections: tuple[Section, ...] = ()
    fingerprint: str
    """Two incidents with the same one say nothing new; no elapsed time is part of it."""
    news: str = ""
    """What the thread is told about this change."""
    buttons: tuple[Button, ...] = ()
    channel: str | None = None
    """`None`: the stage's."""
