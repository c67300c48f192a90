"""Idempotency keys, in memory."""

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.submission_keys import KeyKind, given_up
from switchyard.domain.jobs.transitions import give_up_submission
from switchyard.domain.transition import applied, holds
from switchyard.ports import KeyTaken
from switchyard.testing.state import MemoryState


class MemorySubmissionKeys:
    def __init__(self, state: MemoryState) -> None:
        self._state, self._lock = state, state.lock
        self._taken: dict[tuple[str, str, KeyKind], KeyTaken] = {}

    def find(
        self, tenant: str, key: str, *, now_ms: int, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken | None:
        with self._lock:
            taken = self._taken.get((tenant, key, kind))
        return taken if taken and taken.created_at_ms > now_ms - kind.life_ms else None

    def take(
        self, tenant: str, key: str, taken: KeyTaken, *, kind: KeyKind = KeyKind.PRODUCER
    ) -> KeyTaken:
        with self._lock:
            earlier = self.find(tenant, key, now_ms=taken.created_at_ms, kind=kind)
            if earlier is None:
                self._taken[tenant, key, kind] = taken
            return earlier or taken

    def take_over(
        self, tenant: str, key: str, taken: KeyTaken, *, instead_of: str, kind: KeyKind
    ) -> KeyTaken:
        old = JobRef(tenant, instead_of)
        with self._lock:
            stands_for = self._taken[tenant, key, kind]
            found = self._state.jobs.get(old)
            giving_up = give_up_submission(old)
            if stands_for.job_id != instead_of or not holds(giving_up.guard, found):
                return stands_for
            self._state.jobs[old] = applied(found, giving_up) if found else given_up(old)
            self._taken[tenant, key, kind] = taken
            return taken
