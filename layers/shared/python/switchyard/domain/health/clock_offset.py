"""Limits how far a machine's wall clock may differ from AWS's time."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from switchyard.domain.tasks.task import milliseconds

MOST_MS: Final = milliseconds(timedelta(minutes=5))
"""AWS refuses a request whose signature is older or newer than this.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_aws-signing.html
"""
NOTICEABLE_MS: Final = milliseconds(timedelta(seconds=5))
CURE: Final = (
    "Synchronise the clock with the Amazon Time Sync Service or another NTP server "
    "and start the worker again"
)


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """The wall clock's difference from AWS's time, known to within `error_ms`."""

    ahead_ms: int
    """The lead of the wall clock in milliseconds, negative when it is behind."""
    error_ms: int

    @property
    def least_ms(self) -> int:
        """The smallest difference, in either direction, that the error allows."""
        return max(0, abs(self.ahead_ms) - self.error_ms)

    @property
    def noticeable(self) -> bool:
        return self.least_ms > NOTICEABLE_MS

    @property
    def refused(self) -> bool:
        """Whether AWS refuses what this machine signs."""
        return self.least_ms > MOST_MS

    def __str__(self) -> str:
        direction = "ahead of" if self.ahead_ms > 0 else "behind"
        seconds, error = abs(self.ahead_ms) / 1000, self.error_ms / 1000
        return (
            f"This machine's clock is {seconds:.0f} s {direction} AWS's time (within {error:.1f} s)"
        )


def problem_with(offset: ClockOffset) -> str | None:
    """Return a sentence that names the cure, or `None` when the clock can be corrected for."""
    if not offset.refused:
        return None
    return f"{offset}; AWS refuses requests that are off by more than {MOST_MS // 1000} s. {CURE}."
