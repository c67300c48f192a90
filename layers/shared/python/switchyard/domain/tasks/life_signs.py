"""What a running attempt lets be seen of itself: stored with each renewal of its lease."""

from dataclasses import dataclass
from typing import Final

MAX_ACTIVITY_BYTES: Final = 100  # the control item has to stay under a kilobyte


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeSigns:
    """All times are the worker's."""

    beat_at_ms: int
    """When the renewal was asked for: a sign of life."""
    activity: str | None = None
    """`type:step`, as the child last said; `None` before it said anything."""
    activity_at_ms: int | None = None
    """Since when it does the same: a call of a tool with other arguments is something else."""
    repeats: int = 0
    """How often in a row it has made the same call of a tool."""


def short(activity: str) -> str:
    return activity.encode()[:MAX_ACTIVITY_BYTES].decode(errors="ignore")
