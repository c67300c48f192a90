"""What a child last said it was doing: heard in its output, told in its heartbeats."""

from dataclasses import dataclass
from typing import Literal

from switchyard.domain.tasks.signs import Signs, short
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
        self._call = ""
        self._since_ms = 0
        self._repeats = 0

    @property
    def current(self) -> Activity | None:
        """`None` until the child said something."""
        return self._current

    def note(self, type: ActivityType, step_name: str, call: str = "") -> None:  # noqa: A002 - the event's word
        """`call` stands for a call of a tool and what it was given."""
        last, now_ms = self._current, self._clock.now_ms()
        same = last and (last.type, last.step_name, self._call) == (type, step_name, call)
        if not same:
            self._since_ms, self._repeats = now_ms, 0
        self._repeats += bool(call)
        self._current, self._call = Activity(type, step_name, now_ms), call

    def signs(self, *, beat_at_ms: int) -> Signs:
        doing = self._current
        if doing is None:
            return Signs(beat_at_ms=beat_at_ms)
        return Signs(
            beat_at_ms=beat_at_ms,
            activity=short(f"{doing.type}:{doing.step_name}"),
            activity_at_ms=self._since_ms,
            repeats=self._repeats,
        )
