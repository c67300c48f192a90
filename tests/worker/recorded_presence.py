"""Remembers every word of a worker, and does not listen if told so."""

import threading

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import PresentWorker
from switchyard.testing.presence import MemoryPresence


class RecordedPresence(MemoryPresence):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[PresentWorker | str] = []
        """The workers that reported, and the ids of those that left."""
        self.outage: Unavailable | None = None
        self.listens = threading.Event()
        self.listens.set()

    def seen(self, worker: PresentWorker) -> None:
        self._hear(worker)
        super().seen(worker)

    def left(self, worker_id: str, *, now_ms: int) -> None:
        self._hear(worker_id)
        super().left(worker_id, now_ms=now_ms)

    def _hear(self, word: PresentWorker | str) -> None:
        self.words.append(word)
        self.listens.wait()
        if self.outage:
            raise self.outage
