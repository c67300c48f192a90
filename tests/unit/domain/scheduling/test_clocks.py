"""Tenants share a group in dollars, whatever their tasks cost and however they come."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.scheduling.clocks import (
    LEAST_COST_USD,
    MOST_KINDS,
    ExpectedCosts,
    Group,
    TenantClock,
    charge_of,
    correction_of,
    cost_of,
)
from tests.unit.domain.scheduling.shared_pool import (
    Arrival,
    SharedPool,
    Start,
    arrivals_of,
    spent,
)

SEEDS = st.integers(min_value=0, max_value=10_000)
SLOTS = st.sampled_from([1, 4, 16])


def a_group(floor: float = 0.0, **clocks: float) -> Group:
    return Group.of(
        [TenantClock(tenant=tenant, clock=clock) for tenant, clock in clocks.items()], floor=floor
    )


def test_the_tenant_with_the_lowest_clock_is_next() -> None:
    assert a_group(acme=3.0, brass=1.0, cedar=2.0).in_order() == ("brass", "cedar", "acme")


def test_a_tenant_that_is_new_begins_at_the_floor() -> None:
    assert a_group(5.0, acme=7.0).clock_of("brass") == 5.0


def test_idling_saves_up_nothing() -> None:
    group = a_group(acme=9.0, brass=1.0).chosen("acme", passed_over=["brass"])

    assert group.floor == 9.0
    assert group.clock_of("brass") == 9.0
    assert group.chosen("brass").tenants["brass"] == TenantClock(tenant="brass", clock=9.0)


def test_having_worked_alone_costs_nothing() -> None:
    alone = a_group(acme=9.0, brass=9.0)
    for _ in range(100):
        alone = alone.chosen("acme", passed_over=["brass"]).charged("acme", 1.0)

    assert alone.clock_of("acme") - alone.clock_of("brass") == pytest.approx(1.0)


def test_a_tenant_ahead_of_the_one_that_is_served_does_not_rest() -> None:
    group = a_group(acme=1.0, brass=9.0).chosen("acme", passed_over=["brass"])

    assert not group.tenants["brass"].idle


def test_the_floor_never_falls() -> None:
    assert a_group(8.0, acme=3.0).chosen("acme").floor == 8.0


def test_a_correction_of_a_resting_tenant_does_not_wake_it() -> None:
    resting = a_group(acme=9.0, brass=1.0).chosen("acme", passed_over=["brass"])

    corrected = resting.charged("brass", -0.5)

    assert corrected.tenants["brass"] == TenantClock(tenant="brass", clock=0.5, idle=True)


def test_a_task_that_costs_nothing_is_charged_a_little() -> None:
    assert charge_of(0.0, weight=2.0) == LEAST_COST_USD / 2
    assert cost_of(0.0, slot_seconds=0, usd_per_slot_hour=0.05) == LEAST_COST_USD


def test_slot_seconds_are_charged_at_the_price_of_the_pool() -> None:
    assert cost_of(0.5, slot_seconds=1800, usd_per_slot_hour=0.1) == pytest.approx(0.55)


def test_what_was_charged_in_the_end_is_what_it_cost() -> None:
    charged = charge_of(5.0, weight=2.0) + correction_of(5.0, 1.0, weight=2.0)

    assert charged == pytest.approx(charge_of(1.0, weight=2.0))


def test_what_is_not_known_is_expected_to_cost_the_mean_of_the_group() -> None:
    costs = ExpectedCosts()
    costs.note("acme", "review", 2.0)

    assert costs.expected("acme", "review", mean_usd=0.3) == 2.0
    assert costs.expected("acme", "audit", mean_usd=0.3) == 0.3
    assert costs.expected("brass", "review", mean_usd=None) == LEAST_COST_USD


def test_expectations_follow_what_tasks_cost_lately() -> None:
    costs = ExpectedCosts()
    for _ in range(30):
        costs.note("acme", "review", 1.0)
    for _ in range(30):
        costs.note("acme", "review", 3.0)

    assert costs.expected("acme", "review", mean_usd=None) == pytest.approx(3.0, abs=0.01)


def test_the_kinds_that_are_remembered_are_bounded() -> None:
    costs = ExpectedCosts()
    for number in range(MOST_KINDS + 1):
        costs.note("acme", f"kind-{number}", 1.0)

    assert costs.expected("acme", "kind-0", mean_usd=0.2) == 0.2
    assert costs.expected("acme", "kind-1", mean_usd=0.2) == 1.0


# What follows holds for whole histories. With 10,000 arrivals each they are `long`.


def bound(starts: list[Start], *, slots: int, cache_seconds: float) -> float:
    """Return one largest task for each slot, and those that start within one cache period.

    Charges are added up for a period before they are written: a worker's view of the others is up
    to two periods old.
    """
    largest = max(start.arrival.cost_usd for start in starts)
    times = [start.at for start in starts]
    at_once = most_within(times, 2 * cache_seconds)
    return largest * (slots + at_once)


def most_within(times: list[float], seconds: float) -> int:
    most, first = 0, 0
    for last, at in enumerate(times):
        while times[first] < at - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def check_shares(
    pool: SharedPool, arrivals: list[Arrival], *, slots: int, weights: dict[str, float]
) -> None:
    starts = pool.run(arrivals)
    allowed = bound(starts, slots=slots, cache_seconds=1.0) / min(weights.values())
    last = {t: max(s.at for s in starts if s.arrival.tenant == t) for t in weights}
    both_until = min(last.values())  # from then on one of them has no backlog
    for since, until in pairwise([0.0, both_until / 3, both_until * 2 / 3, both_until]):
        shares = [
            spent(starts, tenant, since=since, until=until) / weight
            for tenant, weight in weights.items()
        ]
        assert max(shares) - min(shares) <= 2 * allowed, (since, until)
    shares = [spent(starts, t, since=0, until=both_until) / w for t, w in weights.items()]
    assert max(shares) - min(shares) <= allowed


def check_unequal(count: int, *, seed: int, slots: int, dearer: float, factor: float) -> None:
    """Two tenants, one with tasks that cost many times the other's, and wrong first estimates."""
    dear = max(50, int(count / (dearer + 1)))
    weights = {"acme": 1.0, "brass": 2.0 if seed % 2 else 1.0}
    arrivals = [
        *arrivals_of("acme", dear, seed=seed, cost_usd=dearer),
        *arrivals_of("brass", count - dear, seed=seed, cost_usd=1.0),
    ]
    pool = SharedPool(slots=slots, weights=weights, estimate_factor=factor)
    check_shares(pool, arrivals, slots=slots, weights=weights)


@settings(max_examples=6)
@given(SEEDS, SLOTS, st.sampled_from([1.0, 10.0, 100.0]), st.sampled_from([0.2, 1.0, 5.0]))
def test_two_backlogged_tenants_spend_as_their_weights_say(
    seed: int, slots: int, dearer: float, factor: float
) -> None:
    check_unequal(1_500, seed=seed, slots=slots, dearer=dearer, factor=factor)


@pytest.mark.long
@settings(max_examples=40)
@given(SEEDS, SLOTS, st.sampled_from([1.0, 10.0, 100.0]), st.sampled_from([0.2, 1.0, 5.0]))
def test_ten_thousand_tasks_of_two_backlogged_tenants_are_shared_by_weight(
    seed: int, slots: int, dearer: float, factor: float
) -> None:
    check_unequal(10_000, seed=seed, slots=slots, dearer=dearer, factor=factor)


def check_alternating(count: int, *, seed: int, slots: int) -> None:
    """One tenant is always busy; the other comes in bursts, and idles in between."""
    drawn = random.Random(seed)
    bursts, at = list[Arrival](), 0.0
    while len(bursts) < count // 4:
        bursts += arrivals_of("brass", drawn.randint(20, 100), seed=seed + len(bursts), at=at)
        at += drawn.uniform(50, 400) * 16 / slots
    arrivals = [*arrivals_of("acme", count - len(bursts), seed=seed), *bursts]
    starts = SharedPool(slots=slots, estimate_factor=drawn.choice([0.2, 1.0, 5.0])).run(arrivals)
    allowed = 2 * bound(starts, slots=slots, cache_seconds=1.0)
    for since, until in busy_times(starts, "brass"):
        shares = [spent(starts, tenant, since=since, until=until) for tenant in ("acme", "brass")]
        assert abs(shares[0] - shares[1]) <= allowed, (since, until)


def busy_times(starts: list[Start], tenant: str) -> list[tuple[float, float]]:
    """Return from when to when the tenant surely had a backlog: a burst's arrival to last start."""
    last: dict[float, float] = {}
    for start in starts:
        if start.arrival.tenant == tenant:
            last[start.arrival.at] = max(start.at, last.get(start.arrival.at, 0.0))
    end = max((s.at for s in starts if s.arrival.tenant != tenant), default=0.0)
    return [(since, min(until, end)) for since, until in last.items() if until <= end]


@settings(max_examples=5)
@given(SEEDS, SLOTS)
def test_a_tenant_that_comes_and_goes_saves_up_nothing_and_loses_nothing(
    seed: int, slots: int
) -> None:
    check_alternating(1_500, seed=seed, slots=slots)


@pytest.mark.long
@settings(max_examples=30)
@given(SEEDS, SLOTS)
def test_ten_thousand_tasks_of_tenants_that_come_and_go_are_shared(seed: int, slots: int) -> None:
    check_alternating(10_000, seed=seed, slots=slots)


@pytest.mark.parametrize("slots", [1, 8])
def test_a_quiet_tenants_task_behind_a_long_backlog_starts_with_the_next_free_slot(
    slots: int,
) -> None:
    backlog = arrivals_of("acme", 2_000, seed=slots)
    quiet = Arrival(at=100.0, tenant="brass", cost_usd=80.0)

    starts = SharedPool(slots=slots).run([*backlog, quiet])

    later = [start for start in starts if start.at > quiet.at]
    assert later[0].arrival == quiet


@pytest.mark.long
def test_a_quiet_tenants_task_behind_a_hundred_thousand_starts_with_the_next_free_slot() -> None:
    backlog = arrivals_of("acme", 100_000, seed=1)
    quiet = Arrival(at=1_000.0, tenant="brass", cost_usd=80.0)

    starts = SharedPool(slots=16).run([*backlog, quiet])

    assert next(start for start in starts if start.at > quiet.at).arrival == quiet


def gained_by_splitting(count: int) -> float:
    """Return how much more a tenant gets that says a thousand names for its kinds of work."""

    def of_brass(kinds: int) -> float:
        split = [
            Arrival(one.at, one.tenant, one.cost_usd, one.seconds, f"kind-{number % kinds}")
            for number, one in enumerate(arrivals_of("brass", count, seed=3))
        ]
        starts = SharedPool(slots=4).run([*arrivals_of("acme", count, seed=4), *split])
        return spent(starts, "brass", since=0.0, until=starts[-1].at / 2)

    return of_brass(1_000) / of_brass(1) - 1


def test_splitting_work_into_a_thousand_kinds_gains_less_than_a_hundredth() -> None:
    assert gained_by_splitting(1_500) < 0.01


@pytest.mark.long
def test_splitting_ten_thousand_tasks_gains_less_than_a_hundredth() -> None:
    assert gained_by_splitting(5_000) < 0.01
