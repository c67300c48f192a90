"""`pools` lists pools and changes what they serve."""

import json

from switchyard.domain.health.presence import PresentWorker
from tests.builders import NOW_MS
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.pools import FakePools

WORKER = PresentWorker(
    worker_id="worker-1",
    started_at_ms=NOW_MS,
    seen_at_ms=NOW_MS,
    slots=2,
    busy=1,
    version="1",
    pool="drones",
)


def test_it_lists_each_pool_with_its_workers_and_what_waits(
    switchyard: Switchyard, pools: FakePools
) -> None:
    pools.presence.seen(WORKER)
    pools.queues["https://sqs/drones"].send_body("{}")
    listed = json.loads(switchyard("pools", "--json").output)
    assert [one["name"] for one in listed] == ["default", "drones"]
    drones = listed[1]
    assert (drones["workers"], drones["slots"], drones["busy"]) == (1, 2, 1)
    assert (drones["waiting"], drones["subscriptions"]) == (1, {"drones": 1})
    assert "drones" in switchyard("pools").output


def test_a_worker_of_a_version_without_pools_counts_for_the_default_pool(
    switchyard: Switchyard, pools: FakePools
) -> None:
    older = PresentWorker(
        worker_id="old", started_at_ms=NOW_MS, seen_at_ms=NOW_MS, slots=3, busy=0, version="0.1"
    )
    pools.presence.seen(older)
    assert [one["workers"] for one in json.loads(switchyard("pools", "--json").output)] == [1, 0]


def test_a_pool_subscribes_with_a_weight_and_ends_it_again(
    switchyard: Switchyard, pools: FakePools
) -> None:
    subscribed = switchyard("pools", "subscribe", "drones", "build", "--weight", "3")
    assert "serves drones, build:3" in subscribed.output
    assert pools.store.all() == {"drones": {"build": 3}}
    ended = switchyard("pools", "unsubscribe", "drones", "build")
    assert "serves drones." in ended.output
    assert "No pool serves the group build now" in ended.output


def test_an_unknown_pool_and_a_bad_group_are_named(switchyard: Switchyard) -> None:
    unknown = switchyard("pools", "subscribe", "ants", "build")
    assert unknown.exit_code != 0
    assert "the pools of this stage are default, drones" in unknown.output
    bad = switchyard("pools", "subscribe", "drones", "Not/OK")
    assert "is not 1 to 40 of a-z" in bad.output
    assert "There is no pool 'ants'" in switchyard("pools", "show", "ants").output


def test_it_shows_one_pool(switchyard: Switchyard, pools: FakePools) -> None:
    pools.presence.seen(WORKER)
    shown = switchyard("pools", "show", "drones").output
    assert "1 of 2 are busy (50 %)" in shown
    assert "worker-1" in shown
