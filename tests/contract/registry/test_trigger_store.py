"""The contract of `TriggerStore`."""

from datetime import UTC, datetime, timedelta

import pytest

from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.contracts.triggers import TriggerRun
from switchyard.contracts.wire import instant
from switchyard.domain.triggers.triggers import UnknownTrigger
from switchyard.ports import TriggerStore
from switchyard.testing.triggers import MemoryTriggerStore
from tests.builders import JOB_ID, NOW_MS, TENANT
from tests.contract.clouds import Cloud
from tests.contract.conftest import MOTO, SIMULATED
from tests.fakes.tables import state_table
from tests.fakes.triggers import a_trigger, nightly

NOW = datetime.fromtimestamp(NOW_MS / 1000, tz=UTC)
STARTED = TriggerRun(at=NOW, event_id="e-1", job_id=JOB_ID)
REFUSED = TriggerRun(at=NOW + timedelta(seconds=1), event_id="e-2", error="no value")


@pytest.fixture(params=["memory", MOTO, "ministack", SIMULATED])
def store(request: pytest.FixtureRequest) -> TriggerStore:
    if request.param == "memory":
        return MemoryTriggerStore()
    cloud: Cloud = request.getfixturevalue(request.param)
    name = state_table(cloud.client("dynamodb"), cloud.fresh("triggers"))
    return DynamoDbTriggerStore(cloud.table(name))


def test_a_new_trigger_is_enabled_and_found_as_it_was_put(store: TriggerStore) -> None:
    put = store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    assert (put.tenant, put.trigger, put.since) == (TENANT, a_trigger(), NOW)
    assert (put.enabled, put.last_run) == (True, None)
    assert store.find(TENANT, "uploads") == put


def test_tenants_do_not_see_each_others(store: TriggerStore) -> None:
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    assert store.find("acme-two", "uploads") is None
    assert list(store.all("acme-two")) == []
    assert list(store.all("acm")) == []


def test_a_list_is_by_name(store: TriggerStore) -> None:
    for trigger in (a_trigger(), nightly(), a_trigger("a-first")):
        store.put(TENANT, trigger, now_ms=NOW_MS)
    assert [found.trigger.name for found in store.all(TENANT)] == ["a-first", "nightly", "uploads"]


def test_a_change_keeps_the_switch_and_the_last_run(store: TriggerStore) -> None:
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    store.note_run(TENANT, "uploads", STARTED)
    store.switch(TENANT, "uploads", on=False, now_ms=NOW_MS)
    changed = store.put(TENANT, a_trigger(description="new"), now_ms=NOW_MS + 5)
    assert changed == store.find(TENANT, "uploads")
    assert changed.trigger.description == "new"
    assert changed.since == instant(NOW_MS + 5)
    assert (changed.enabled, changed.last_run) == (False, STARTED)


def test_a_switch_says_since_when(store: TriggerStore) -> None:
    store.put(TENANT, nightly(), now_ms=NOW_MS)
    off = store.switch(TENANT, "nightly", on=False, now_ms=NOW_MS + 1)
    on = store.switch(TENANT, "nightly", on=True, now_ms=NOW_MS + 2)
    assert (off.enabled, off.since) == (False, instant(NOW_MS + 1))
    assert (on.enabled, on.since) == (True, instant(NOW_MS + 2))
    assert store.find(TENANT, "nightly") == on


def test_a_late_run_does_not_hide_a_later_one(store: TriggerStore) -> None:
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    store.note_run(TENANT, "uploads", REFUSED)
    store.note_run(TENANT, "uploads", STARTED)
    found = store.find(TENANT, "uploads")
    assert found is not None
    assert found.last_run == REFUSED


def test_of_two_at_one_moment_the_last_one_counts(store: TriggerStore) -> None:
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    again = STARTED.model_copy(update={"event_id": "e-9"})
    store.note_run(TENANT, "uploads", STARTED)
    store.note_run(TENANT, "uploads", again)
    found = store.find(TENANT, "uploads")
    assert found is not None
    assert found.last_run == again


def test_what_is_removed_is_gone_and_begins_anew_when_it_is_put_again(store: TriggerStore) -> None:
    store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    store.note_run(TENANT, "uploads", STARTED)
    store.switch(TENANT, "uploads", on=False, now_ms=NOW_MS)
    store.remove(TENANT, "uploads", now_ms=NOW_MS)
    store.note_run(TENANT, "uploads", REFUSED)
    assert store.find(TENANT, "uploads") is None
    assert list(store.all(TENANT)) == []
    again = store.put(TENANT, a_trigger(), now_ms=NOW_MS)
    assert (again.enabled, again.last_run) == (True, None)
    assert store.find(TENANT, "uploads") == again


def test_what_is_not_there_is_named(store: TriggerStore) -> None:
    with pytest.raises(UnknownTrigger, match="the tenant acme has no trigger 'nobodys'"):
        store.switch(TENANT, "nobodys", on=True, now_ms=NOW_MS)
    with pytest.raises(UnknownTrigger):
        store.remove(TENANT, "nobodys", now_ms=NOW_MS)
    store.note_run(TENANT, "nobodys", STARTED)
    assert store.find(TENANT, "nobodys") is None
