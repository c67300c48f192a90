"""Idempotency keys, in memory."""

from collections.abc import Mapping

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.plan import Pinned
from switchyard.domain.submission_keys import KeyKind
from switchyard.ports import KeyTaken


class MemorySubmissionKeys:
    def __init__(self, state: MemoryState) -> None:
        self._lock = state.lock
        self._taken: dict[tuple[str, str, KeyKind], KeyTaken] = {}

    def find(
        self, tenant: str, key: str, *, now_ms: int, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken | None:
        with self._lock:
            taken = self._taken.get((tenant, key, kind))
        return taken if taken and taken.created_at_ms > now_ms - kind.life_ms else None

    def take(
        self,
        tenant: str,
        key: str,
        *,
        job_id: str,
        body_hash: str,
        now_ms: int,
        kind: KeyKind = KeyKind.PRODUCER,
        pinned: Mapping[str, Pinned] | None = None,
    ) -> KeyTaken:
        with self._lock:
            taken = self.find(tenant, key, now_ms=now_ms, kind=kind)
            if taken is None:
                taken = KeyTaken(
                    job_id=job_id, body_hash=body_hash, created_at_ms=now_ms, pinned=pinned
                )
                self._taken[tenant, key, kind] = taken
            return taken
