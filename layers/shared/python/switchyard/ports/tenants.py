"""What operators have set for each tenant."""

from collections.abc import Mapping
from typing import Protocol

from switchyard.domain.access.tenants import TenantSettings


class TenantStore(Protocol):
    def find(self, tenant: str) -> TenantSettings:
        """Return the tenant's settings; the defaults for a tenant that has none."""

    def change(
        self,
        tenant: str,
        *,
        slack_channels: tuple[str, ...] | None = None,
        slack_operators: tuple[str, ...] | None = None,
    ) -> TenantSettings:
        """Replace the lists that are given, and return the settings as they are then.

        Of two who change the same list at once, the later one's stays.
        """

    def all(self) -> Mapping[str, TenantSettings]:
        """Return the settings of every tenant that has any, by tenant, in order.

        A change of a moment ago may be missing from it.
        """
