"""What a child last said it was doing: heard in its output, told in its heartbeats."""

from dataclasses import dataclass
from typing import Literal

from switchyard.ports import Clock

ActivityType = Literal["step_running", "sdk_query", "waiting"]


@dataclass(frozen=True, slots=True)
class Activity:
    type: ActivityType
    step_name: str
    at_ms: int


class LastActivity:
    """One per attempt."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._current: Activity | None = None

    @property
    def current(self) -> Activity | None:
        """`None` until the child said something."""
        return self._current

    def note(self, type: ActivityType, step_name: str) -> None:  # noqa: A002 - the event's word
        self._current = Activity(type, step_name, self._clock.now_ms())
