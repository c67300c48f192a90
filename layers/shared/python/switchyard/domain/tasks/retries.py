"""Decides when a failed attempt is followed by another, and a step is tried again within one.

A step is tried again only where trying it cost nothing.
"""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.backoff import Backoff
from switchyard.domain.tasks.failures import FailureCategory

BACKOFF: Final = Backoff(first=1_000, longest=300_000)  # milliseconds
BACKOFF_WHEN_LIMITED: Final = Backoff(first=10_000, longest=300_000)  # it is counted per minute


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after a delay drawn from the whole range, so that tasks do not retry in step."""

    longest_delay_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    reason: str


def decide_retry(category: FailureCategory, *, attempt: int, max_attempts: int) -> Retry | GiveUp:
    if not category.transient:
        return GiveUp(f"{category} is permanent")
    if attempt >= max_attempts:
        return GiveUp(f"failed on attempt {attempt} of {max_attempts}")
    limited = category is FailureCategory.RATE_LIMIT
    backoff = BACKOFF_WHEN_LIMITED if limited else BACKOFF
    return Retry(backoff.at_most(attempt), f"{category} may pass")


def why_not_retried(category: str, *, attempt: int, max_attempts: int) -> str | None:
    """Say why no attempt followed the one that failed so; `None` if the category says nothing."""
    try:
        known = FailureCategory(category)
    except ValueError:
        return None
    match decide_retry(known, attempt=attempt, max_attempts=max_attempts):
        case GiveUp(reason) if known.transient:
            return f"it {reason}"
        case GiveUp(reason):
            return f"{reason}: another attempt would fail in the same way"
    if known is FailureCategory.TIMEOUT:
        return "its time was over, which all of its attempts share"
    return None


MAX_TRIES: Final = 3
"""The most tries of a step within one attempt."""
_FREE: Final = frozenset(
    {FailureCategory.NETWORK, FailureCategory.RATE_LIMIT, FailureCategory.SERVER_ERROR}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailure:
    category: FailureCategory
    paid: bool
    """Whether a token was paid for."""
    tries: int
    """The number of tries of the step by now."""
    retry_after_ms: int | None = None
    """The wait that the API asked for when it refused."""


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Try the step again after a delay drawn from the whole range."""

    shortest_ms: int
    longest_ms: int


def decide_step_retry(failure: StepFailure, *, time_left_ms: int) -> TryAgain | GiveUp:
    """Decide whether to try a step again; otherwise the attempt fails, and another may follow."""
    if failure.category not in _FREE:
        return GiveUp(f"{failure.category} does not pass within an attempt")
    if failure.paid:
        return GiveUp("another try would be paid for")
    if failure.tries >= MAX_TRIES:
        return GiveUp(f"failed {failure.tries} times in a row")
    shortest = failure.retry_after_ms or 0
    longest = shortest + BACKOFF.at_most(failure.tries - 1)
    if longest >= time_left_ms:
        return GiveUp("no time is left for another try")
    return TryAgain(shortest, longest)
