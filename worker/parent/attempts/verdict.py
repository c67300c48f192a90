"""How an attempt ended, before anybody decided what follows from it.

`artifacts` is the prefix of its files in the bucket, once there are any.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Json, Usage
from worker.boundary import session_limit_ms
from worker.guard.redaction import Redaction
from worker.parent.supervision.child_output import MAX_PRINTED_BYTES
from worker.parent.supervision.supervisor import Ended, Run

MAX_ERROR_CHARACTERS: Final = 2_000
MAX_BUG_CHARACTERS: Final = 500
"""The length of the error of an attempt that a bug ended."""


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
    error = described[:MAX_BUG_CHARACTERS]
    return Failed(category=FailureCategory.SERVER_ERROR, error=error)


def interrupted(run: Run, *, allowed_ms: int) -> Verdict:
    """Return the verdict on a child that did not end by itself."""
    match run.ended:
        case Ended.TIMED_OUT:
            return TimedOut(
                timeout_ms=allowed_ms,
                duration_ms=run.duration_ms,
                signal=run.signal or "SIGTERM",
            )
        case Ended.CLAUDE_LOST:
            return _failed(run, FailureCategory.NETWORK, "the worker's proxy for Claude ended")
        case Ended.PRINTED_TOO_MUCH:
            most = MAX_PRINTED_BYTES // 1_000_000
            error = f"the child printed more than {most} MB"
            return _failed(run, FailureCategory.VALIDATION, error)
        case Ended.WROTE_TOO_MUCH:
            error = run.problem or "the task used too much of the disk"
            return _failed(run, FailureCategory.VALIDATION, error)
    return ended_early(run.ended, allowed_ms=allowed_ms, spent_ms=run.duration_ms)


def _failed(run: Run, category: FailureCategory, error: str) -> Failed:
    return Failed(
        category=category, error=error, duration_ms=run.duration_ms, exit_code=run.exit_code
    )


def ended_early(ended: Ended, *, allowed_ms: int, spent_ms: int) -> Verdict:
    """Return the verdict on an attempt that was ended, with or without a child."""
    match ended:
        case Ended.CANCELLED:
            return Cancelled(duration_ms=spent_ms)
        case Ended.HANDED_BACK:
            return HandedBack(reason="the worker is stopping")
    return TimedOut(timeout_ms=allowed_ms, duration_ms=spent_ms, signal="SIGTERM")


def without_secrets(verdict: Verdict, redaction: Redaction) -> Verdict:
    """Remove keys and secrets of known shapes from the error of a verdict, and bound its length."""
    if not isinstance(verdict, Failed):
        return verdict
    return replace(verdict, error=redaction.error(verdict.error)[:MAX_ERROR_CHARACTERS])


def out_of_time(verdict: Verdict, *, timeout_ms: int, ran_ms: int) -> Verdict:
    """The agent's own time-out at the end of all its time ends the task: no second is paid for."""
    if not isinstance(verdict, Failed) or verdict.category is not FailureCategory.TIMEOUT:
        return verdict
    if ran_ms < session_limit_ms(timeout_ms):
        return verdict
    return TimedOut(
        timeout_ms=timeout_ms, duration_ms=ran_ms, signal="SIGTERM", usage=verdict.usage
    )
