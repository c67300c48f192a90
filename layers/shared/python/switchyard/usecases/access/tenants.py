"""Reads and changes tenants' settings for operators."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from switchyard.domain.access.tenants import (
    TenantSettings,
    problem_with_channels,
    problem_with_operators,
)
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard.domain.scheduling.clocks import DEFAULT_WEIGHT, GREATEST_WEIGHT, LEAST_WEIGHT
from switchyard.ports import TenantClocks, TenantStore


@dataclass(frozen=True, kw_only=True)
class TenantOperator:
    store: TenantStore
    clocks: TenantClocks

    def find(self, tenant: str) -> TenantSettings:
        _require_tenant(tenant)
        return self.store.find(tenant)

    def all(self) -> Mapping[str, TenantSettings]:
        return self.store.all()

    def change(
        self,
        tenant: str,
        *,
        slack_channels: tuple[str, ...] | None = None,
        slack_operators: tuple[str, ...] | None = None,
    ) -> TenantSettings:
        """Replace the lists that are given. Raise `Rejected`, and nothing is changed."""
        _require_tenant(tenant)
        problem = problem_with_channels(slack_channels or ()) or problem_with_operators(
            slack_operators or ()
        )
        if problem:
            raise Rejected(problem)
        return self.store.change(
            tenant,
            slack_channels=_without_doubles(slack_channels),
            slack_operators=_without_doubles(slack_operators),
        )

    def weigh(self, tenant: str, group: str, weight: float) -> None:
        """Set a tenant's share of a group, from its next charge on. Raise `Rejected`."""
        _require_tenant(tenant)
        if not LEAST_WEIGHT <= weight <= GREATEST_WEIGHT:
            raise Rejected(
                f"weight: {weight:g} is not between {LEAST_WEIGHT:g} and {GREATEST_WEIGHT:g}; 1 is "
                "that of a tenant for which none is set"
            )
        self.clocks.weigh(group, tenant, weight)

    def weights(self, group: str) -> Mapping[str, float]:
        """Return the shares of a group by tenant; that of all others is 1."""
        weights = {one.tenant: one.weight for one in self.clocks.of_group(group).tenants}
        return defaultdict(lambda: DEFAULT_WEIGHT, weights)


def _without_doubles(listed: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(dict.fromkeys(listed))


def _require_tenant(tenant: str) -> None:
    if not TENANT_ID.fullmatch(tenant):
        raise Rejected(f"tenant {tenant!r} must be {TENANT_ID_RULE}")
