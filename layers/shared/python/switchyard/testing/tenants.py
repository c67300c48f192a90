"""In-memory twins of tenants' settings and open tasks."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from switchyard.domain.access.open_tasks import OpenJob
from switchyard.domain.access.tenants import NO_SETTINGS, TenantSettings
from switchyard.domain.ids import JobRef


class MemoryTenantStore:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settings: dict[str, TenantSettings] = {}

    def find(self, tenant: str) -> TenantSettings:
        return self._settings.get(tenant, NO_SETTINGS)

    def change(
        self,
        tenant: str,
        *,
        slack_channels: tuple[str, ...] | None = None,
        slack_operators: tuple[str, ...] | None = None,
    ) -> TenantSettings:
        with self._lock:
            known = self.find(tenant)
            if slack_channels is not None:
                known = replace(known, slack_channels=slack_channels)
            if slack_operators is not None:
                known = replace(known, slack_operators=slack_operators)
            self._settings[tenant] = known
            return known

    def all(self) -> Mapping[str, TenantSettings]:
        return dict(sorted(self._settings.items()))


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
