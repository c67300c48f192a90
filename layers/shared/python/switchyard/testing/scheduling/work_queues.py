"""Work queues, in memory."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace

from switchyard.domain.errors import Conflict
from switchyard.domain.scheduling.work_queues import UnknownWorkQueue, WorkQueue
from switchyard.ports.work_queues import PageOfQueues


class MemoryWorkQueueStore:
    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._queues: dict[tuple[str, str], WorkQueue] = {}

    def create(self, queue: WorkQueue) -> bool:
        with self._lock:
            return self._queues.setdefault((queue.tenant, queue.name), queue) is queue

    def find_many(self, tenant: str, names: Iterable[str]) -> Mapping[str, WorkQueue]:
        found = {name: self._queues.get((tenant, name)) for name in names}
        return {name: queue for name, queue in found.items() if queue is not None}

    def page(self, tenant: str, *, limit: int, after: str | None = None) -> PageOfQueues:
        names = sorted(name for owner, name in self._queues if owner == tenant)
        left = [name for name in names if after is None or name > after]
        queues = tuple(self._queues[tenant, name] for name in left[:limit])
        return PageOfQueues(queues=queues, after=queues[-1].name if left[limit:] else None)

    def change(self, queue: WorkQueue) -> WorkQueue:
        with self._lock:
            self._require_same(queue)
            changed = replace(queue, version=queue.version + 1)
            self._queues[queue.tenant, queue.name] = changed
            return changed

    def delete(self, queue: WorkQueue, *, now_ms: int) -> None:  # noqa: ARG002
        with self._lock:
            self._require_same(queue)
            del self._queues[queue.tenant, queue.name]

    def _require_same(self, queue: WorkQueue) -> None:
        stored = self._queues.get((queue.tenant, queue.name))
        if stored is None:
            raise UnknownWorkQueue(queue.name)
        if stored.version != queue.version:
            raise Conflict(f"the queue {queue.name!r} was changed at the same time; read it again")
