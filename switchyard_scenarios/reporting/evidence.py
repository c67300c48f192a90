"""The observations of a scenario, and its checks of them."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from switchyard.adapters.system import SystemClock
from switchyard.ports import Clock


class Failed(Exception):
    """The scenario cannot go on; one sentence: what was waited for, and what was there instead."""


@dataclass(frozen=True, slots=True)
class Note:
    """An observation or a figure that changed, so long after the start."""

    at_ms: int
    label: str
    value: int | str


@dataclass(frozen=True, slots=True)
class Check:
    sentence: str
    held: bool
    shown: str
    """The figures that it was judged by."""


@dataclass
class Evidence:
    clock: Clock = field(default_factory=SystemClock)
    notes: list[Note] = field(default_factory=list)
    """Happenings: `value` says more about each, or nothing."""
    figures: list[Note] = field(default_factory=list)
    """Figures over time, each reported only when it changes."""
    counts: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._began_ms = self.clock.now_ms()
        self._began = self.clock.monotonic()
        self._last: dict[str, int] = {}

    def note(self, label: str, value: int | str = "", *, at_ms: int | None = None) -> None:
        """Note an event; `at_ms` is a time of the clock, now if absent."""
        self.notes.append(Note(self._since(at_ms), label, value))

    def measure(self, label: str, value: int) -> None:
        if self._last.get(label) != value:
            self._last[label] = value
            self.figures.append(Note(self._since(None), label, value))

    def count(self, label: str, value: int) -> None:
        self.counts[label] = value

    def check(self, sentence: str, held: bool, *, shown: object = "") -> None:  # noqa: FBT001
        """Record a check; `sentence` says what ought to be so. All are made, whichever fails."""
        self.checks.append(Check(sentence, held, _reported(shown)))

    @property
    def seconds(self) -> float:
        """Return the seconds since the start."""
        return self.clock.monotonic() - self._began

    @property
    def latest(self) -> dict[str, int]:
        """Return the last value of each figure."""
        return dict(self._last)

    @property
    def passed(self) -> bool:
        return bool(self.checks) and all(check.held for check in self.checks)

    @property
    def broken(self) -> list[Check]:
        return [check for check in self.checks if not check.held]

    def _since(self, at_ms: int | None) -> int:
        return (self.clock.now_ms() if at_ms is None else at_ms) - self._began_ms


def _reported(shown: object) -> str:
    """Return the value for people: `a 2, b 1`, `a, b`, or `none`."""
    match shown:
        case Mapping():
            parts = [f"{key} {value}" for key, value in shown.items()]
        case Set():
            parts = sorted(map(str, shown))
        case list() | tuple():
            parts = [str(part) for part in shown]
        case _:
            return str(shown)
    return ", ".join(parts) or "none"
