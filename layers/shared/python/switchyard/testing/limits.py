"""In-memory twins of what the limits count: requests of keys, and open tasks of jobs."""

import threading
from collections.abc import Sequence

from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import Admission, Admitted, OpenJob, RequestLimits, Use, judge
from switchyard.domain.ids import JobRef


class MemoryRequestRates:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[Caller, Use] = {}

    def take(self, caller: Caller, *, limits: RequestLimits, now_ms: int) -> Admission:
        with self._lock:
            verdict = judge(self._uses.get(caller), now_ms=now_ms, limits=limits)
            if isinstance(verdict, Admitted):
                self._uses[caller] = verdict.use
            return verdict


class MemoryOpenTasks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[JobRef, OpenJob] = {}

    def of_tenant(self, tenant: str) -> Sequence[OpenJob]:
        with self._lock:
            mine = [job for ref, job in self._jobs.items() if ref.tenant == tenant]
        return sorted(mine, key=lambda job: job.ref)

    def note(self, ref: JobRef, *, run: int, tasks: int, now_ms: int) -> None:
        with self._lock:
            known = self._jobs.get(ref)
            if known is None or (known.run, known.tasks) <= (run, tasks):
                self._jobs[ref] = OpenJob(ref=ref, run=run, tasks=tasks, since_ms=now_ms)

    def close(self, ref: JobRef, *, run: int) -> None:
        with self._lock:
            known = self._jobs.get(ref)
            if known is not None and known.run <= run:
                del self._jobs[ref]
