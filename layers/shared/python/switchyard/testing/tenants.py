"""In-memory twin of tenants' settings."""

import threading
from collections.abc import Mapping
from dataclasses import replace

from switchyard.domain.access.tenants import NO_SETTINGS, TenantSettings


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
