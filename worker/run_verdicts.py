"""Verdicts on attempts that something else than the child's outcome decided."""

from dataclasses import replace

from switchyard.domain.tasks.failures import FailureCategory
from worker.child_output import MAX_PRINTED_BYTES
from worker.machine import machine_trouble
from worker.outcome import MAX_ERROR_CHARACTERS
from worker.redaction import Redaction
from worker.supervision import Ended, Run
from worker.verdict import Cancelled, Failed, HandedBack, TimedOut, Verdict


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


def not_started(problem: OSError) -> Failed:
    """Raise the problem again if it is the machine's."""
    if machine_trouble(problem):
        raise problem
    return Failed(
        category=FailureCategory.SERVER_ERROR,  # another worker may be better off
        error=f"the child could not be started: {type(problem).__name__}: {problem}",
    )


def without_secrets(verdict: Verdict, redaction: Redaction) -> Verdict:
    """Remove keys and secrets of known shapes from the error of a verdict, and bound its length."""
    if not isinstance(verdict, Failed):
        return verdict
    return replace(verdict, error=redaction.error(verdict.error)[:MAX_ERROR_CHARACTERS])
