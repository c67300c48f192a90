"""Names that were used, in memory."""

import threading


class MemoryDeduplication:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: set[str] = set()

    def first(self, name: str, *, now_ms: int, keep_ms: int) -> bool:  # noqa: ARG002 - never forgets
        with self._lock:
            if name in self._used:
                return False
            self._used.add(name)
            return True
