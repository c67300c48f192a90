"""What operators do with triggers: the kept trigger and its rule stay together."""

from typing import Any

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.tenants import MemoryTenantStore
from switchyard.adapters.memory.transport import MemoryMail, MemoryTaskQueue
from switchyard.adapters.memory.triggers import MemoryTriggerRules, MemoryTriggerStore
from switchyard.contracts.triggers import BusEvent, Trigger, parse_trigger_message
from switchyard.domain.errors import Conflict, Unavailable
from switchyard.domain.triggers.triggers import RuleRefused, UnknownTrigger
from switchyard.ports import TriggerRule
from switchyard.usecases.triggers.operate_triggers import TriggerOperator
from tests.builders import NOW_MS, TENANT
from tests.fakes.triggered_yard import REPORT
from tests.fakes.triggers import a_trigger, nightly

NAME = "switchyard-test-acme.uploads"
ON_OUR_BUS = {"bus": "switchyard", "pattern": {"detail": {"eventType": ["Job Failed"]}}}


class Desk:
    def __init__(self) -> None:
        self.store = MemoryTriggerStore()
        self.tenants = MemoryTenantStore()
        self.rules = MemoryTriggerRules()
        self.clock = ManualClock(NOW_MS)
        self.queue = MemoryTaskQueue(self.clock)
        self.operator = TriggerOperator(
            stage="test",
            store=self.store,
            tenants=self.tenants,
            rules=self.rules,
            mail=MemoryMail({"trigger-queue-test": self.queue}),
            queue="trigger-queue-test",
            clock=self.clock,
        )

    def apply(self, trigger: Trigger) -> TriggerRule:
        self.operator.apply(TENANT, trigger)
        (rule,) = self.rules.rules.values()
        return rule


def test_a_trigger_on_the_default_bus_has_its_pattern_there() -> None:
    rule = Desk().apply(a_trigger())
    assert (rule.name, rule.bus, rule.enabled) == (NAME, "default", True)
    assert (rule.pattern, rule.schedule) == ({"source": ["aws.s3"]}, None)
    assert (rule.tenant, rule.trigger) == (TENANT, "uploads")


def test_a_trigger_names_no_channel_that_its_tenants_jobs_may_not_name() -> None:
    desk = Desk()
    trigger = a_trigger(job=REPORT | {"notify": {"channel": "#brand"}})
    with pytest.raises(RuleRefused, match=r"job.notify.channel: #brand is not one of"):
        desk.apply(trigger)
    assert desk.rules.rules == {}
    assert desk.store.all(TENANT) == []
    desk.tenants.change(TENANT, slack_channels=("#brand",))
    assert desk.apply(trigger).enabled


def test_a_channel_that_depends_on_the_event_is_checked_when_it_comes() -> None:
    trigger = a_trigger(job=REPORT | {"notify": {"channel": "#{{event.detail.team}}"}})
    assert Desk().apply(trigger).enabled


def test_a_schedule_is_kept_on_the_default_bus() -> None:
    rule = Desk().apply(nightly())
    assert (rule.bus, rule.pattern, rule.schedule) == ("default", None, "cron(0 3 * * ? *)")


def test_on_our_bus_a_trigger_hears_its_own_tenant_alone() -> None:
    rule = Desk().apply(a_trigger(on=ON_OUR_BUS))
    heard = {"detail": {"eventType": ["Job Failed"], "tenantId": [TENANT]}}
    assert (rule.bus, rule.pattern) == ("switchyard", heard)


def test_another_tenants_events_are_refused_before_anything_is_kept() -> None:
    desk = Desk()
    others = {"bus": "switchyard", "pattern": {"detail": {"tenantId": ["other"]}}}
    with pytest.raises(RuleRefused, match=r"detail.tenantId: can only be \[acme\]"):
        desk.apply(a_trigger(on=others))
    assert list(desk.store.all(TENANT)) == []


def test_a_trigger_that_moves_to_another_bus_leaves_no_rule_behind() -> None:
    desk = Desk()
    desk.apply(a_trigger())
    assert desk.apply(a_trigger(on=ON_OUR_BUS)).bus == "switchyard"
    assert desk.apply(a_trigger(schedule="rate(1 day)")).bus == "default"


def test_a_refused_rule_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    desk.apply(a_trigger())
    rules, kept = dict(desk.rules.rules), desk.operator.find(TENANT, "uploads")

    def refuse(rule: TriggerRule) -> None:
        raise RuleRefused("no such operator")

    monkeypatch.setattr(desk.rules, "put", refuse)
    for trigger in (a_trigger(on=ON_OUR_BUS), a_trigger(job=nightly().job)):
        with pytest.raises(RuleRefused):
            desk.apply(trigger)
        assert (desk.rules.rules, desk.operator.find(TENANT, "uploads")) == (rules, kept)


def test_a_new_rule_is_enabled_once_there_is_a_trigger_for_its_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk, seen = Desk(), []
    put = desk.rules.put

    def watched(rule: TriggerRule) -> None:
        found = desk.store.find(TENANT, "uploads")
        seen.append((rule.bus, rule.enabled, found.trigger.bus if found else None))
        put(rule)

    monkeypatch.setattr(desk.rules, "put", watched)
    desk.apply(a_trigger())
    desk.apply(a_trigger(on=ON_OUR_BUS))
    assert seen == [
        ("default", False, None),
        ("default", True, "default"),
        ("switchyard", False, "default"),
        ("switchyard", True, "switchyard"),
    ]


def test_what_died_while_it_moved_leaves_no_rule_when_it_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk()
    desk.apply(a_trigger())
    with monkeypatch.context() as outage:
        outage.setattr(desk.store, "put", _gone)
        with pytest.raises(Unavailable):
            desk.apply(a_trigger(on=ON_OUR_BUS))
    assert len(desk.rules.rules) == 2
    desk.operator.remove(TENANT, "uploads")
    assert desk.rules.rules == {}


def _gone(*_: Any, **__: Any) -> None:
    raise Unavailable("gone")


@pytest.mark.parametrize("text", ["cron(0 0 30 2 ? *)", "cron(0 0 1 1 ? 2020)"])
def test_a_schedule_that_never_fires_is_refused(text: str) -> None:
    desk = Desk()
    with pytest.raises(RuleRefused, match="never"):
        desk.apply(nightly().model_copy(update={"schedule": text}))
    assert list(desk.store.all(TENANT)) == []


@pytest.mark.parametrize("broken", ["rules.remove", "store.put", "rules.put"])
def test_whoever_dies_while_applying_applies_again(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    desk.apply(a_trigger())
    part, method = broken.split(".")
    with monkeypatch.context() as outage:
        outage.setattr(getattr(desk, part), method, _gone)
        with pytest.raises(Unavailable):
            desk.apply(a_trigger(on=ON_OUR_BUS))
    desk.apply(a_trigger(on=ON_OUR_BUS))
    assert list(desk.rules.rules) == [(NAME, "switchyard")]


def test_a_disabled_trigger_stays_disabled_when_it_is_changed() -> None:
    desk = Desk()
    desk.apply(a_trigger())
    desk.operator.switch(TENANT, "uploads", on=False)
    assert not desk.apply(a_trigger(description="new")).enabled
    assert desk.operator.switch(TENANT, "uploads", on=True).enabled
    assert desk.rules.rules[NAME, "default"].enabled


def test_what_is_removed_leaves_neither_trigger_nor_rule() -> None:
    desk = Desk()
    desk.apply(a_trigger())
    desk.operator.remove(TENANT, "uploads")
    assert desk.rules.rules == {}
    with pytest.raises(UnknownTrigger):
        desk.operator.find(TENANT, "uploads")


def test_a_rule_that_somebody_took_away_is_missed() -> None:
    desk = Desk()
    applied = desk.operator.apply(TENANT, a_trigger())
    assert desk.operator.rule_of(applied) == NAME
    desk.rules.rules.clear()
    assert desk.operator.rule_of(applied) is None


def test_firing_sends_what_the_rule_would() -> None:
    desk = Desk()
    desk.apply(a_trigger())
    event = BusEvent(id="e-1", time="now")
    desk.operator.fire(TENANT, "uploads", event=event, text='{"id": "e-1", "time": "now"}')
    (sent,) = desk.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=9)
    message = parse_trigger_message(sent.body)
    assert (message.tenant_id, message.trigger, message.envelope) == (TENANT, "uploads", event)


def test_a_disabled_trigger_is_not_fired() -> None:
    desk = Desk()
    desk.apply(a_trigger())
    desk.operator.switch(TENANT, "uploads", on=False)
    with pytest.raises(Conflict, match="'uploads' is disabled"):
        desk.operator.fire(TENANT, "uploads", event=BusEvent(id="e", time="t"), text="{}")
    assert desk.queue.waiting == 0
