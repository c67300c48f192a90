"""Whether a step is tried again inside its attempt: only when trying it cost nothing."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.tasks.failures import BACKOFF, FailureCategory, GiveUp

MAX_TRIES: Final = 3
_FREE: Final = frozenset(
    {FailureCategory.NETWORK, FailureCategory.RATE_LIMIT, FailureCategory.SERVER_ERROR}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailure:
    category: FailureCategory
    paid: bool
    """Whether a token was paid for."""
    tries: int
    """How often the step was tried by now."""
    retry_after_ms: int | None = None
    """How long whoever refused asked us to wait."""


@dataclass(frozen=True, slots=True)
class TryAgain:
    """After a delay drawn from the whole range."""

    shortest_ms: int
    longest_ms: int


def decide_step_retry(failure: StepFailure, *, time_left_ms: int) -> TryAgain | GiveUp:
    """What is not tried again here fails the attempt, which may be followed by another."""
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
