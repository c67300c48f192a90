"""A clock that moves only when a test advances it."""

from switchyard.domain.health.clock_offset import ClockOffset


class ManualClock:
    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self._now_ms = now_ms
        self.offset: ClockOffset | None = ClockOffset(ahead_ms=0, error_ms=0)

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic(self) -> float:
        return self._now_ms / 1000

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._now_ms += int(seconds * 1000)

    def wall_offset(self) -> ClockOffset | None:
        return self.offset
