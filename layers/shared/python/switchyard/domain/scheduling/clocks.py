"""Tenants' clocks: what each was charged in a group, in dollars divided by its weight.

The tenant with the lowest clock that has work is next. A charge is what a task is expected to cost
when it is claimed, and the difference when it settles.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

LEAST_COST_USD: Final = 0.0001
"""What a task is charged at least: tasks that cost nothing would run before all others."""
DEFAULT_WEIGHT: Final = 1.0
LEAST_WEIGHT: Final = 0.01
GREATEST_WEIGHT: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantClock:
    """Where a tenant stands in a group."""

    tenant: str
    clock: float
    weight: float = DEFAULT_WEIGHT
    idle: bool = False
    """Whether it had no work when this worker chose another; it begins at the floor again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The clocks of a group, as they were read, with what was charged by this worker since."""

    tenants: Mapping[str, TenantClock] = field(default_factory=dict)
    floor: float = 0.0
    """Rises to the clock of the tenant that was chosen last, and never falls."""
    mean_cost_usd: float | None = None
    """The mean cost of tasks that settled in this group; `None` before the first."""

    @classmethod
    def of(
        cls, tenants: Iterable[TenantClock], *, floor: float, mean_cost_usd: float | None = None
    ) -> "Group":
        return cls(
            tenants={one.tenant: one for one in tenants}, floor=floor, mean_cost_usd=mean_cost_usd
        )

    def clock_of(self, tenant: str) -> float:
        """Return where the tenant stands; at the floor if it is new or comes back."""
        found = self.tenants.get(tenant)
        if found is None:
            return self.floor
        return max(found.clock, self.floor) if found.idle else found.clock

    def is_idle(self, tenant: str) -> bool:
        found = self.tenants.get(tenant)
        return found is not None and found.idle

    def in_order(self) -> tuple[str, ...]:
        """Return the tenants, the one that is next first; equal clocks are ordered by name."""
        return tuple(sorted(self.tenants, key=lambda tenant: (self.clock_of(tenant), tenant)))

    def charged(self, tenant: str, charge: float) -> "Group":
        """Return the group after a charge, which may be negative: a correction."""
        found = self.tenants.get(tenant) or TenantClock(tenant=tenant, clock=self.floor)
        return self._with(replace(found, clock=found.clock + charge))

    def chosen(self, tenant: str, *, passed_over: Iterable[str] = ()) -> "Group":
        """Return the group after a tenant was chosen, and others before it had no work."""
        clock = self.clock_of(tenant)
        found = self.tenants.get(tenant) or TenantClock(tenant=tenant, clock=clock)
        after = self._with(replace(found, clock=clock, idle=False))
        for other in passed_over:
            if after.rests(other, beside=tenant):
                after = after._with(replace(after.tenants[other], idle=True))
        return replace(after, floor=max(after.floor, clock))

    def rests(self, tenant: str, *, beside: str) -> bool:
        """Return whether a tenant without work is behind another that is served.

        It is not owed what it did not ask for: when it comes back it begins at the floor.
        """
        found = self.tenants.get(tenant)
        return found is not None and not found.idle and found.clock < self.clock_of(beside)

    def _with(self, moved: TenantClock) -> "Group":
        return replace(self, tenants={**self.tenants, moved.tenant: moved})


def charge_of(cost_usd: float, *, weight: float) -> float:
    """Return what a task moves its tenant's clock by."""
    return max(cost_usd, LEAST_COST_USD) / weight


def correction_of(expected_usd: float, cost_usd: float, *, weight: float) -> float:
    """Return what settles the difference between what was charged at the claim and the cost."""
    return charge_of(cost_usd, weight=weight) - charge_of(expected_usd, weight=weight)


def cost_of(model_usd: float, *, slot_seconds: float, usd_per_slot_hour: float) -> float:
    """Return what an attempt cost: the model, and the slot at the price of its pool."""
    return max(model_usd + slot_seconds * usd_per_slot_hour / 3600, LEAST_COST_USD)


NEWEST_SHARE: Final = 0.2
"""How much the newest task counts in the expectation of the next of its kind."""
MOST_KINDS: Final = 1_000


class ExpectedCosts:
    """What tasks are expected to cost: like those of their kind that this worker has settled."""

    def __init__(self) -> None:
        self._means: dict[tuple[str, str], float] = {}

    def expected(self, tenant: str, definition: str, *, mean_usd: float | None) -> float:
        """Return dollars; those of the group's mean for a kind that is not known."""
        known = self._means.get((tenant, definition), mean_usd)
        return LEAST_COST_USD if known is None else max(known, LEAST_COST_USD)

    def note(self, tenant: str, definition: str, cost_usd: float) -> None:
        """Remember what a task cost; the kind that was not seen for longest is forgotten."""
        kind = (tenant, definition)
        before = self._means.pop(kind, cost_usd)
        self._means[kind] = before + NEWEST_SHARE * (cost_usd - before)
        if len(self._means) > MOST_KINDS:
            del self._means[next(iter(self._means))]
