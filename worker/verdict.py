"""How an attempt ended, before anybody decided what follows from it.

`artifacts` is the prefix of its files in the bucket, once there are any.
"""

from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Json, Usage
from worker.redaction import Redaction

MAX_ERROR_CHARACTERS: Final = 500
"""Of the error of an attempt that a bug ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    output: Json
    usage: Usage
    duration_ms: int
    artifacts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    category: FailureCategory
    error: str
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    exit_code: int | None = None
    artifacts: str | None = None
    retry_after_ms: int | None = None
    """How long whoever refused asked us to wait, if they said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """We killed it, which ends the task: an attempt has one deadline."""

    timeout_ms: int
    duration_ms: int
    signal: str
    usage: Usage = field(default_factory=Usage)
    artifacts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    duration_ms: int
    usage: Usage = field(default_factory=Usage)
    artifacts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedBack:
    """Not the task's doing; it costs no attempt."""

    reason: str
    delay_ms: int = 0


Conclusion = Completed | Failed | TimedOut | Cancelled
Verdict = Conclusion | HandedBack


def failed_by(bug: Exception, redaction: Redaction) -> Failed:
    """An attempt that an unexpected exception ended.

    It may be tried again, since another worker may do better, and each time counts: a task that
    brings every worker to this ends with its attempts.
    """
    described = redaction.error(f"the worker failed: {type(bug).__name__}: {bug}")
    error = described[:MAX_ERROR_CHARACTERS]
    return Failed(category=FailureCategory.SERVER_ERROR, error=error)
