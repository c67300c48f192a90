"""The contract of `TenantClocks`."""

import pytest

from switchyard.ports import GroupClocks, TenantInGroup
from tests.builders import NOW_MS
from tests.contract.conftest import Backend


def tenants(backend: Backend, group: str = "review") -> dict[str, TenantInGroup]:
    return {one.tenant: one for one in backend.clocks.of_group(group).tenants}


def test_a_group_begins_empty(backend: Backend) -> None:
    assert backend.clocks.of_group("review") == GroupClocks()


def test_a_mark_says_who_has_work_in_a_group(backend: Backend) -> None:
    backend.clocks.mark("review", "b", now_ms=NOW_MS)
    backend.clocks.mark("review", "a", now_ms=NOW_MS)
    backend.clocks.mark("other", "c", now_ms=NOW_MS)
    assert backend.clocks.of_group("review").tenants == (
        TenantInGroup(tenant="a", marked_at_ms=NOW_MS),
        TenantInGroup(tenant="b", marked_at_ms=NOW_MS),
    )


def test_a_mark_is_set_again_and_never_back(backend: Backend) -> None:
    for now_ms in (NOW_MS, NOW_MS + 7, NOW_MS + 3):
        backend.clocks.mark("review", "a", now_ms=now_ms)
    assert tenants(backend)["a"].marked_at_ms == NOW_MS + 7
    assert not backend.clocks.unmark("review", "a", marked_at_ms=NOW_MS)
    assert backend.clocks.unmark("review", "a", marked_at_ms=NOW_MS + 7)
    assert tenants(backend)["a"].marked_at_ms is None
    assert not backend.clocks.unmark("review", "a", marked_at_ms=NOW_MS + 7)


def test_charges_are_added_to_clocks(backend: Backend) -> None:
    backend.clocks.charge("review", {"a": 0.25, "b": 1.5})
    backend.clocks.charge("review", {"a": 0.0001, "b": -0.5})
    found = tenants(backend)
    assert found["a"].clock == pytest.approx(0.2501)
    assert found["b"].clock == pytest.approx(1.0)


def test_who_comes_back_begins_at_the_floor(backend: Backend) -> None:
    backend.clocks.charge("review", {"behind": 1.0, "ahead": 9.0})
    backend.clocks.mark("review", "stayed", now_ms=NOW_MS)
    backend.clocks.raise_floor("review", 5.0)
    backend.clocks.raise_floor("review", 3.0)
    assert backend.clocks.of_group("review").floor == 5.0
    for tenant in ("behind", "ahead", "new", "stayed"):
        backend.clocks.mark("review", tenant, now_ms=NOW_MS + 1)
    clocks = {name: one.clock for name, one in tenants(backend).items()}
    assert clocks == {"behind": 5.0, "ahead": 9.0, "new": 5.0, "stayed": 0.0}


def test_who_kept_its_mark_can_catch_up(backend: Backend) -> None:
    backend.clocks.mark("review", "a", now_ms=NOW_MS)
    backend.clocks.raise_floor("review", 5.0)
    for _ in range(2):
        backend.clocks.catch_up("review", "a")
        assert tenants(backend)["a"].clock == 5.0
    backend.clocks.charge("review", {"a": 1.0})
    backend.clocks.catch_up("review", "a")
    assert tenants(backend)["a"] == TenantInGroup(tenant="a", clock=6.0, marked_at_ms=NOW_MS)


def test_a_weight_is_remembered(backend: Backend) -> None:
    backend.clocks.weigh("review", "a", 2.5)
    backend.clocks.mark("review", "a", now_ms=NOW_MS)
    assert tenants(backend)["a"].weight == 2.5


def test_the_mean_cost_is_that_of_all_tasks(backend: Backend) -> None:
    backend.clocks.note_cost("review", 1.5, 1)
    backend.clocks.note_cost("review", 0.5, 3)
    assert backend.clocks.of_group("review").mean_cost_usd == pytest.approx(0.5)
