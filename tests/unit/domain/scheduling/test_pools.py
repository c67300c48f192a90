"""A pool is refused with a sentence that says what to change."""

from typing import Any

import pytest

from switchyard.domain.scheduling.groups import group_of_task
from switchyard.domain.scheduling.pools import (
    Pool,
    PoolKind,
    Subscription,
    WhenEmpty,
    problem_with_pools,
    problem_with_subscribing,
    subscriptions_of,
)
from tests.builders import a_task

BUILD = Subscription("build", 3)


def a_pool(**other: Any) -> Pool:
    known: dict[str, Any] = {
        "name": "drones",
        "when_empty": WhenEmpty.POLL,
        "subscriptions": (Subscription("drones"),),
    }
    return Pool(**known | other)


def test_a_pool_that_polls_has_the_usual_numbers() -> None:
    pool = a_pool()
    assert (pool.min_workers, pool.max_workers) == (2, 10)
    assert (pool.scale_up_threshold, pool.scale_down_threshold) == (20, 5)


def test_the_empty_behaviour_has_no_default() -> None:
    with pytest.raises(TypeError, match="when_empty"):
        Pool(name="drones", subscriptions=())  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"when_empty": WhenEmpty.TERMINATE}, "a service would start its workers again"),
        ({"when_empty": WhenEmpty.HIBERNATE}, "set the least number of workers to 0"),
        ({"name": "Drones"}, "its name is not"),
        ({"name": "a-dlq"}, "ends in -dlq"),
        ({"name": "2"}, "begins with a digit"),
        ({"slots": 0}, "between 1 and 50"),
        ({"min_workers": 3, "max_workers": 2}, "3 to 2 workers"),
        ({"max_workers": 0, "min_workers": 0}, "between 1 and 1,000"),
        ({"scale_down_threshold": 21}, "the scale-up threshold"),
        ({"cpu": 300}, "Fargate offers 256, 512"),
        ({"memory_mb": 512}, "Fargate offers 2048 to 8192 MB"),
        ({"subscriptions": (BUILD, BUILD)}, "twice to build"),
        ({"subscriptions": tuple(Subscription(f"g{n}") for n in range(21))}, "at most 20"),
    ],
)
def test_what_cannot_work_is_refused(other: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        a_pool(**other)


@pytest.mark.parametrize(("group", "weight"), [("Build", 1), ("a/b", 1), ("b", 0), ("b", 101)])
def test_a_subscription_names_a_group_and_a_weight(group: str, weight: int) -> None:
    with pytest.raises(ValueError, match=r"group|weight"):
        Subscription(group, weight)


def test_a_stage_has_a_default_pool_and_no_name_twice() -> None:
    default = a_pool(name="default")
    assert problem_with_pools([default, a_pool()]) is None
    assert "no pool named default" in (problem_with_pools([a_pool()]) or "")
    assert problem_with_pools([default, default]) == "two pools are named default"


def test_operators_changes_come_over_the_stage_table() -> None:
    pool = a_pool()
    assert subscriptions_of(pool, {}) == pool.subscriptions
    assert subscriptions_of(pool, {"build": 3}) == (*pool.subscriptions, BUILD)
    assert subscriptions_of(pool, {"drones": 0, "build": 3}) == (BUILD,)


def test_a_group_has_pools_of_one_kind() -> None:
    functions = a_pool(name="light", kind=PoolKind.LAMBDA)
    fargate = [PoolKind.FARGATE]
    assert "another kind" in (problem_with_subscribing(functions, (), BUILD, fargate) or "")
    default = Subscription("default")
    assert "tasks of agents" in (problem_with_subscribing(functions, (), default, []) or "")
    assert problem_with_subscribing(functions, (), BUILD, []) is None
    assert problem_with_subscribing(a_pool(), (), BUILD, fargate) is None


def test_a_task_belongs_to_the_group_of_its_queue() -> None:
    assert group_of_task(a_task()) == "default"
    assert group_of_task(a_task(queue="drones")) == "drones"
    assert group_of_task(a_task(queue="drones/nightly")) == "drones"
