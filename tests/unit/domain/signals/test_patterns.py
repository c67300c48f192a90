"""Patterns of events mean what EventBridge says, and are refused with the place of a mistake."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from switchyard.domain.signals import patterns
from switchyard.domain.signals.patterns import detail_matches, detail_problem

DETAIL: dict[str, Any] = {
    "orderId": 17,
    "state": "paid",
    "gift": False,
    "voucher": None,
    "tags": ["new", "vip"],
    "none": [],
    "customer": {"name": "Ann", "address": {"city": "Bonn"}},
    "lines": [{"sku": "a", "count": 1}, {"sku": "b", "count": 2}],
}


@pytest.mark.parametrize(
    "pattern",
    [
        {"orderId": [17]},
        {"orderId": [17.0]},
        {"orderId": ["17", 17]},
        {"gift": [False]},
        {"voucher": [None]},
        {"state": ["open", "paid"]},
        {"tags": ["vip"]},
        {"customer": {"address": {"city": ["Bonn"]}}},
        {"lines": {"sku": ["b"], "count": [2]}},
        {"state": [{"prefix": "pa"}]},
        {"state": [{"exists": True}]},
        {"voucher": [{"exists": True}]},
        {"other": [{"exists": False}]},
        {"none": [{"exists": False}]},
        {"other": {"deeper": [{"exists": False}]}},
        {"customer": [{"exists": False}]},
        {"state": [{"anything-but": "open"}]},
        {"state": [{"anything-but": ["open", "closed"]}]},
        {"orderId": [{"anything-but": 18}]},
        {"state": [{"anything-but": {"prefix": "op"}}]},
        {"state": ["open", {"prefix": "pai"}]},
    ],
)
def test_an_event_matches_in_every_field(pattern: dict[str, Any]) -> None:
    assert detail_problem(pattern) is None
    assert detail_matches(pattern, DETAIL)


@pytest.mark.parametrize(
    "pattern",
    [
        {"orderId": ["17"]},
        {"orderId": [True]},
        {"gift": [0]},
        {"gift": [None]},
        {"other": [None]},
        {"state": ["Paid"]},
        {"state": ["paid"], "orderId": [18]},
        {"tags": ["ne"]},
        {"customer": ["Ann"]},
        {"customer": {"city": ["Bonn"]}},
        {"lines": {"sku": ["a"], "count": [2]}},
        {"orderId": [{"prefix": "1"}]},
        {"state": [{"exists": False}]},
        {"other": [{"exists": True}]},
        {"other": [{"anything-but": "open"}]},
        {"state": [{"anything-but": "paid"}]},
        {"state": [{"anything-but": ["open", "paid"]}]},
        {"state": [{"anything-but": {"prefix": "pa"}}]},
    ],
)
def test_one_field_that_differs_is_enough(pattern: dict[str, Any]) -> None:
    assert detail_problem(pattern) is None
    assert not detail_matches(pattern, DETAIL)


def test_without_a_pattern_every_detail_matches() -> None:
    assert detail_matches(None, {})


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ([17], "detail: must be an object with at least one field"),
        ({}, "detail: must be an object with at least one field"),
        ({"a": 17}, "detail.a: must be a list of what matches, or an object"),
        ({"a": []}, "detail.a: must be a list of what matches"),
        ({"a": {"b": "x"}}, "detail.a.b: must be a list of what matches"),
        ({"a": [["x"]]}, "detail.a: a list cannot be compared"),
        ({"a": [{"sufix": "x"}]}, "detail.a: {sufix} is no operator that is known: prefix, exists"),
        ({"a": [{"prefix": "x", "exists": True}]}, "detail.a: {prefix, exists} is no operator"),
        ({"a": [{"exists": "yes"}]}, "detail.a: {exists} is no operator"),
        ({"a": [{"prefix": ""}]}, "detail.a: prefix must not be empty"),
        ({"a": [{"anything-but": []}]}, "detail.a: {anything-but} is no operator"),
        ({"a": [{"anything-but": [{}]}]}, "detail.a: an object cannot be compared"),
        ({"$or": [{"a": [1]}]}, "detail.$or: is no field that is compared; $or is not supported"),
        ({"a": ["x" * 1001]}, "detail.a: a text has 1,001 characters; at most 1,000"),
        ({"a": list(range(101))}, "detail: has more than 100 values"),
    ],
)
def test_a_mistake_is_named_with_its_place(pattern: Any, said: str) -> None:
    problem = detail_problem(pattern)
    assert problem is not None
    assert problem.startswith(said)


def test_a_pattern_is_not_nested_without_end() -> None:
    pattern: Any = [1]
    for _ in range(50):
        pattern = {"a": pattern}
    assert "nested more than 8 levels" in str(detail_problem(pattern))


def test_an_event_that_takes_too_long_to_compare_does_not_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = {"a": {"b": ["x"]}}
    event = {"a": [{"b": "x"}] + [{"b": ["y"] * 10}] * 10}
    assert detail_matches(wanted, event)
    monkeypatch.setattr(patterns, "MAX_COMPARISONS", 50)
    assert not detail_matches(wanted, event)


NAMES = st.sampled_from(["a", "b", "prefix", "exists", "anything-but", "$or"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "prefix", "exists"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_pattern_is_refused_or_can_be_compared_with_every_event(
    pattern: Any, detail: Any
) -> None:
    if detail_problem(pattern) is None:
        assert detail_matches(pattern, detail) in {True, False}
