"""In-memory twins of what a stage knows of its workers and their pools."""

import threading
from collections.abc import Mapping, Sequence

from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.health.presence import Pause, PresentWorker
from switchyard.domain.health.rollout import Deployment
from switchyard.domain.scheduling.pauses import MAX_PAUSED_PARTS
from switchyard.domain.scheduling.pools import ChangedWeights


class MemoryPresence:
    def __init__(self) -> None:
        self._workers: dict[str, PresentWorker] = {}

    def seen(self, worker: PresentWorker) -> None:
        self._workers[worker.worker_id] = worker

    def left(self, worker_id: str, *, now_ms: int) -> None:  # noqa: ARG002
        self._workers.pop(worker_id, None)

    def all(self) -> Sequence[PresentWorker]:
        return [self._workers[worker_id] for worker_id in sorted(self._workers)]


class MemoryPauseSwitch:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pause: Pause | None = None
        self._parts: frozenset[str] = frozenset()

    def pause(self, *, now_ms: int, reason: str | None = None) -> Pause:
        with self._lock:
            self._pause = self._pause or Pause(since_ms=now_ms, reason=reason or None)
            return self._pause

    def resume(self) -> None:
        with self._lock:
            self._pause = None

    def paused(self) -> Pause | None:
        return self._pause

    def pause_part(self, part: str) -> None:
        with self._lock:
            if len(self._parts | {part}) > MAX_PAUSED_PARTS:
                raise Rejected(f"at most {MAX_PAUSED_PARTS} parts of a stage can be paused")
            self._parts |= {part}

    def resume_part(self, part: str) -> None:
        with self._lock:
            self._parts -= {part}

    def paused_parts(self) -> frozenset[str]:
        return self._parts


class MemoryDeployments:
    """Deployments in memory; without a release, on a machine where nothing replaces workers."""

    def __init__(self, own: str | None = None) -> None:
        self._own = own
        self.current = own
        self.outage: Unavailable | None = None

    def look(self) -> Deployment | None:
        if self.outage:
            raise self.outage
        if self._own is None or self.current is None:
            return None
        return Deployment(own=self._own, current=self.current)


class MemorySubscriptionStore:
    def __init__(self) -> None:
        self._changed: dict[str, dict[str, int]] = {}

    def all(self) -> Mapping[str, ChangedWeights]:
        return {pool: dict(weights) for pool, weights in self._changed.items()}

    def change(self, pool: str, group: str, weight: int) -> ChangedWeights:
        weights = self._changed.setdefault(pool, {})
        weights[group] = weight
        return dict(weights)
