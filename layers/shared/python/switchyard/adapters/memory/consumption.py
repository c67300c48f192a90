"""The brake, in memory."""

import threading

from switchyard.domain.health.consumption import Pause


class MemoryConsumption:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pause: Pause | None = None

    def pause(self, *, now_ms: int, reason: str | None = None) -> Pause:
        with self._lock:
            self._pause = self._pause or Pause(since_ms=now_ms, reason=reason or None)
            return self._pause

    def resume(self) -> None:
        with self._lock:
            self._pause = None

    def paused(self) -> Pause | None:
        return self._pause
