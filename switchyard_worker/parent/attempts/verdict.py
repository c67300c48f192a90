"""The verdict on an attempt: an outcome that settles its task, or that it is handed back."""

from dataclasses import dataclass, replace
from typing import Any, Final

from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.cancellation import REASON as CANCELLED
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Json, Outcome, Usage
from switchyard_worker.boundary import session_limit_ms
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.supervision.child_output import MAX_PRINTED_BYTES
from switchyard_worker.parent.supervision.supervisor import Ended, Run

NOTHING_USED: Final = Usage()
MAX_ERROR_CHARACTERS: Final = 2_000
MAX_BUG_CHARACTERS: Final = 500
"""The length of the error of an attempt that a bug ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """An attempt that ended. Its outcome is the one that is stored and that the event states."""

    outcome: Outcome
    output: Json = None
    retry_after_ms: int | None = None
    """The wait that the API asked for when it refused a request, if it did."""
    checked: CheckedCommitments | None = None
    """Which commitments were met, if they were checked."""

    @property
    def completed(self) -> bool:
        return self.outcome.state is TaskState.COMPLETED

    @property
    def failed(self) -> bool:
        """Return whether the attempt failed, so that the task may be tried again."""
        return self.outcome.state is TaskState.FAILED

    @property
    def category(self) -> FailureCategory | None:
        category = self.outcome.error_category
        return None if category is None else FailureCategory(category)

    def but_failed(self, category: FailureCategory, error: str) -> "Concluded":
        """Return a failure of an attempt that seemed completed, with what it took."""
        outcome = replace(
            self.outcome, state=TaskState.FAILED, error=error, error_category=category
        )
        return replace(self, outcome=outcome, output=None)

    def changed(self, **facts: Any) -> "Concluded":
        """Return the same conclusion with other facts in its outcome."""
        return replace(self, outcome=replace(self.outcome, **facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedBack:
    """An attempt that another worker has to make; it costs the task none of its attempts."""

    reason: str
    delay_ms: int = 0
    error: str | None = None
    """The error that readers of the task see meanwhile."""


Verdict = Concluded | HandedBack


def completed(*, output: Json, usage: Usage, duration_ms: int) -> Concluded:
    outcome = Outcome(state=TaskState.COMPLETED, duration_ms=duration_ms, usage=usage, exit_code=0)
    return Concluded(outcome=outcome, output=output)


def failed(
    *,
    category: FailureCategory,
    error: str,
    usage: Usage = NOTHING_USED,
    duration_ms: int = 0,
    exit_code: int | None = None,
    retry_after_ms: int | None = None,
) -> Concluded:
    outcome = Outcome(
        state=TaskState.FAILED,
        duration_ms=duration_ms,
        usage=usage,
        exit_code=exit_code,
        error=error,
        error_category=category,
    )
    return Concluded(outcome=outcome, retry_after_ms=retry_after_ms)


def timed_out(
    *, timeout_ms: int, duration_ms: int, signal: str, usage: Usage = NOTHING_USED
) -> Concluded:
    """Conclude an attempt that its deadline ended, which ends the task: it has one deadline."""
    outcome = Outcome(
        state=TaskState.TIMED_OUT,
        duration_ms=duration_ms,
        usage=usage,
        error=f"timed out after {timeout_ms} ms",
        error_category=FailureCategory.TIMEOUT,
        timeout_ms=timeout_ms,
        signal=signal,
    )
    return Concluded(outcome=outcome)


def cancelled(*, duration_ms: int) -> Concluded:
    outcome = Outcome(state=TaskState.CANCELLED, duration_ms=duration_ms, error=CANCELLED)
    return Concluded(outcome=outcome)


def failed_by(bug: Exception, redaction: Redaction) -> Concluded:
    """Conclude an attempt that an unexpected exception ended.

    It may be tried again, since another worker may do better, and each time counts: a task that
    brings every worker to this ends with its attempts.
    """
    described = redaction.error(f"the worker failed: {type(bug).__name__}: {bug}")
    return failed(category=FailureCategory.SERVER_ERROR, error=described[:MAX_BUG_CHARACTERS])


def interrupted(run: Run, *, allowed_ms: int) -> Verdict:
    """Return the verdict on a child that did not end by itself."""
    match run.ended:
        case Ended.TIMED_OUT:
            return timed_out(
                timeout_ms=allowed_ms,
                duration_ms=run.duration_ms,
                signal=run.signal or "SIGTERM",
            )
        case Ended.CLAUDE_LOST:
            return _failed_run(run, FailureCategory.NETWORK, "the worker's proxy for Claude ended")
        case Ended.PRINTED_TOO_MUCH:
            most = MAX_PRINTED_BYTES // 1_000_000
            error = f"the child printed more than {most} MB"
            return _failed_run(run, FailureCategory.VALIDATION, error)
        case Ended.USED_TOO_MUCH:
            error = run.problem or "the task used too much"
            return _failed_run(run, FailureCategory.VALIDATION, error)
    return ended_early(run.ended, allowed_ms=allowed_ms, spent_ms=run.duration_ms)


def _failed_run(run: Run, category: FailureCategory, error: str) -> Concluded:
    return failed(
        category=category, error=error, duration_ms=run.duration_ms, exit_code=run.exit_code
    )


def ended_early(ended: Ended, *, allowed_ms: int, spent_ms: int) -> Verdict:
    """Return the verdict on an attempt that was ended, with or without a child."""
    match ended:
        case Ended.CANCELLED:
            return cancelled(duration_ms=spent_ms)
        case Ended.HANDED_BACK:
            return HandedBack(reason="the worker is stopping")
    return timed_out(timeout_ms=allowed_ms, duration_ms=spent_ms, signal="SIGTERM")


def without_secrets(verdict: Verdict, redaction: Redaction) -> Verdict:
    """Remove keys and secrets of known shapes from the error of a failure; bound its length."""
    if isinstance(verdict, HandedBack) or not verdict.failed:
        return verdict
    error = redaction.error(verdict.outcome.error or "")
    return verdict.changed(error=error[:MAX_ERROR_CHARACTERS])


def at_deadline(concluded: Concluded, *, timeout_ms: int, ran_ms: int) -> Concluded:
    """Turn the agent's own time-out at the end of all its time into that of the task.

    An agent ends itself a little before its deadline, to report what it used. Another attempt
    would be paid for once more.
    """
    out_of_time = concluded.failed and concluded.category is FailureCategory.TIMEOUT
    if not out_of_time or ran_ms < session_limit_ms(timeout_ms):
        return concluded
    return timed_out(
        timeout_ms=timeout_ms,
        duration_ms=ran_ms,
        signal="SIGTERM",
        usage=concluded.outcome.usage,
    )
