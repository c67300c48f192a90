"""Workers, in memory."""

from collections.abc import Sequence

from switchyard.domain.health.presence import PresentWorker


class MemoryPresence:
    def __init__(self) -> None:
        self._workers: dict[str, PresentWorker] = {}

    def seen(self, worker: PresentWorker) -> None:
        self._workers[worker.worker_id] = worker

    def left(self, worker_id: str, *, now_ms: int) -> None:  # noqa: ARG002
        self._workers.pop(worker_id, None)

    def all(self) -> Sequence[PresentWorker]:
        return [self._workers[worker_id] for worker_id in sorted(self._workers)]
