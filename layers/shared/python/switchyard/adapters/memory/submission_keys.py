"""Idempotency keys, in memory."""

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.submission_keys import KEY_LIFE_MS
from switchyard.ports import KeyTaken


class MemorySubmissionKeys:
    def __init__(self, state: MemoryState) -> None:
        self._lock = state.lock
        self._taken: dict[tuple[str, str], KeyTaken] = {}

    def take(self, tenant: str, key: str, *, job_id: str, body_hash: str, now_ms: int) -> KeyTaken:
        with self._lock:
            taken = self._taken.get((tenant, key))
            if taken is None or taken.created_at_ms <= now_ms - KEY_LIFE_MS:
                taken = KeyTaken(job_id=job_id, body_hash=body_hash, created_at_ms=now_ms)
                self._taken[tenant, key] = taken
            return taken
