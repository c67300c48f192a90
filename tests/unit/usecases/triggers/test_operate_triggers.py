"""What operators do with triggers: the stored trigger and its rule stay together."""

from typing import Any

import pytest

from switchyard.contracts.triggers import BusEvent, Trigger, parse_trigger_message
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.errors import Conflict, InvalidTrigger, Unavailable
from switchyard.domain.triggers.triggers import RuleRefused, UnknownTrigger
from switchyard.ports import TriggerRule
from switchyard.testing import ManualClock
from switchyard.testing.registry import MemoryDefinitionStore
from switchyard.testing.tenants import MemoryTenantStore
from switchyard.testing.transport import MemoryQueueSender, MemoryTaskQueue
from switchyard.testing.triggers import MemoryTriggerRules, MemoryTriggerStore
from switchyard.usecases.triggers.operate_triggers import TriggerOperator
from tests.builders import NOW_MS, TENANT, a_definition
from tests.fakes.harnesses.triggered_harness import REPORT
from tests.fakes.triggers import a_trigger, nightly

NAME = "switchyard-test-acme.uploads"
ON_OUR_BUS = {"bus": "switchyard", "pattern": {"detail": {"eventType": ["Job Failed"]}}}


class OperatorHarness:
    def __init__(self) -> None:
        self.store = MemoryTriggerStore()
        self.tenants = MemoryTenantStore()
        self.definitions = MemoryDefinitionStore()
        self.definitions.put(TENANT, "scrape", a_definition())
        self.rules = MemoryTriggerRules()
        self.clock = ManualClock(NOW_MS)
        self.queue = MemoryTaskQueue(self.clock)
        self.operator = TriggerOperator(
            stage="test",
            store=self.store,
            tenants=self.tenants,
            definitions=self.definitions,
            ceilings=WIDEST_CEILINGS,
            rules=self.rules,
            queue_sender=MemoryQueueSender({"trigger-queue-test": self.queue}),
            queue="trigger-queue-test",
            clock=self.clock,
        )

    def apply(self, trigger: Trigger) -> TriggerRule:
        self.operator.apply(TENANT, trigger)
        (rule,) = self.rules.rules.values()
        return rule


def test_a_trigger_on_the_default_bus_has_its_pattern_there() -> None:
    rule = OperatorHarness().apply(a_trigger())
    assert (rule.name, rule.bus, rule.enabled) == (NAME, "default", True)
    assert (rule.pattern, rule.schedule) == ({"source": ["aws.s3"]}, None)
    assert (rule.tenant, rule.trigger) == (TENANT, "uploads")


def test_a_trigger_names_no_channel_that_its_tenants_jobs_may_not_name() -> None:
    harness = OperatorHarness()
    trigger = a_trigger(job=REPORT | {"notify": {"channel": "#brand"}})
    with pytest.raises(InvalidTrigger, match=r"job.notify.channel: #brand is not one of"):
        harness.apply(trigger)
    assert harness.rules.rules == {}
    assert harness.store.all(TENANT) == []
    harness.tenants.change(TENANT, slack_channels=("#brand",))
    assert harness.apply(trigger).enabled


def test_a_channel_that_depends_on_the_event_is_checked_when_it_comes() -> None:
    trigger = a_trigger(job=REPORT | {"notify": {"channel": "#{{event.detail.team}}"}})
    assert OperatorHarness().apply(trigger).enabled


def test_a_schedule_is_a_rule_of_the_default_bus() -> None:
    rule = OperatorHarness().apply(nightly())
    assert (rule.bus, rule.pattern, rule.schedule) == ("default", None, "cron(0 3 * * ? *)")


def test_on_our_bus_a_trigger_hears_its_own_tenant_alone() -> None:
    rule = OperatorHarness().apply(a_trigger(on=ON_OUR_BUS))
    heard = {"detail": {"eventType": ["Job Failed"], "tenantId": [TENANT]}}
    assert (rule.bus, rule.pattern) == ("switchyard", heard)


def test_another_tenants_events_are_refused_before_anything_is_stored() -> None:
    harness = OperatorHarness()
    others = {"bus": "switchyard", "pattern": {"detail": {"tenantId": ["other"]}}}
    with pytest.raises(InvalidTrigger, match=r"on.pattern.detail.tenantId: can only be \[acme\]"):
        harness.apply(a_trigger(on=others))
    assert list(harness.store.all(TENANT)) == []


def test_a_trigger_that_moves_to_another_bus_leaves_no_rule_behind() -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    assert harness.apply(a_trigger(on=ON_OUR_BUS)).bus == "switchyard"
    assert harness.apply(a_trigger(schedule="rate(1 day)")).bus == "default"


def test_a_refused_rule_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    rules, stored = dict(harness.rules.rules), harness.operator.find(TENANT, "uploads")

    def refuse(rule: TriggerRule) -> None:
        raise RuleRefused("no such operator")

    monkeypatch.setattr(harness.rules, "put", refuse)
    for trigger in (a_trigger(on=ON_OUR_BUS), a_trigger(job=nightly().job)):
        with pytest.raises(RuleRefused):
            harness.apply(trigger)
        assert (harness.rules.rules, harness.operator.find(TENANT, "uploads")) == (rules, stored)


def test_a_new_rule_is_enabled_once_there_is_a_trigger_for_its_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, seen = OperatorHarness(), []
    put = harness.rules.put

    def watched(rule: TriggerRule) -> None:
        found = harness.store.find(TENANT, "uploads")
        seen.append((rule.bus, rule.enabled, found.trigger.bus if found else None))
        put(rule)

    monkeypatch.setattr(harness.rules, "put", watched)
    harness.apply(a_trigger())
    harness.apply(a_trigger(on=ON_OUR_BUS))
    assert seen == [
        ("default", False, None),
        ("default", True, "default"),
        ("switchyard", False, "default"),
        ("switchyard", True, "switchyard"),
    ]


def test_what_died_while_it_moved_leaves_no_rule_when_it_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    with monkeypatch.context() as outage:
        outage.setattr(harness.store, "put", _gone)
        with pytest.raises(Unavailable):
            harness.apply(a_trigger(on=ON_OUR_BUS))
    assert len(harness.rules.rules) == 2
    harness.operator.remove(TENANT, "uploads")
    assert harness.rules.rules == {}


def _gone(*_: Any, **__: Any) -> None:
    raise Unavailable("gone")


@pytest.mark.parametrize("text", ["cron(0 0 30 2 ? *)", "cron(0 0 1 1 ? 2020)"])
def test_a_schedule_that_never_fires_is_refused(text: str) -> None:
    harness = OperatorHarness()
    with pytest.raises(InvalidTrigger, match=r"schedule: .* never fires"):
        harness.apply(nightly().model_copy(update={"schedule": text}))
    assert list(harness.store.all(TENANT)) == []


@pytest.mark.parametrize("broken", ["rules.remove", "store.put", "rules.put"])
def test_an_interrupted_apply_can_be_repeated(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    part, method = broken.split(".")
    with monkeypatch.context() as outage:
        outage.setattr(getattr(harness, part), method, _gone)
        with pytest.raises(Unavailable):
            harness.apply(a_trigger(on=ON_OUR_BUS))
    harness.apply(a_trigger(on=ON_OUR_BUS))
    assert list(harness.rules.rules) == [(NAME, "switchyard")]


def test_a_disabled_trigger_stays_disabled_when_it_is_changed() -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    harness.operator.switch(TENANT, "uploads", on=False)
    assert not harness.apply(a_trigger(description="new")).enabled
    assert harness.operator.switch(TENANT, "uploads", on=True).enabled
    assert harness.rules.rules[NAME, "default"].enabled


def test_what_is_removed_leaves_neither_trigger_nor_rule() -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    harness.operator.remove(TENANT, "uploads")
    assert harness.rules.rules == {}
    with pytest.raises(UnknownTrigger):
        harness.operator.find(TENANT, "uploads")


def test_a_rule_that_was_removed_is_missed() -> None:
    harness = OperatorHarness()
    applied = harness.operator.apply(TENANT, a_trigger())
    assert harness.operator.rule_of(applied) == NAME
    harness.rules.rules.clear()
    assert harness.operator.rule_of(applied) is None


def test_firing_sends_what_the_rule_would() -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    event = BusEvent(id="e-1", time="now")
    harness.operator.fire(TENANT, "uploads", event=event, text='{"id": "e-1", "time": "now"}')
    (sent,) = harness.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=9)
    message = parse_trigger_message(sent.body)
    assert (message.tenant_id, message.trigger, message.envelope) == (TENANT, "uploads", event)


def test_a_disabled_trigger_is_not_fired() -> None:
    harness = OperatorHarness()
    harness.apply(a_trigger())
    harness.operator.switch(TENANT, "uploads", on=False)
    with pytest.raises(Conflict, match="'uploads' is disabled"):
        harness.operator.fire(TENANT, "uploads", event=BusEvent(id="e", time="t"), text="{}")
    assert harness.queue.waiting == 0


def test_the_rule_of_a_local_schedule_fires_in_every_hour_and_says_so() -> None:
    rule = OperatorHarness().apply(nightly(time_zone="Asia/Kathmandu"))
    assert (rule.schedule, rule.local_time) == ("cron(15 * * * ? *)", True)


def test_a_rate_has_no_time_zone() -> None:
    with pytest.raises(ValueError, match="only a schedule of cron"):
        a_trigger(schedule="rate(1 day)", time_zone="Europe/Berlin")


def test_a_trigger_whose_definitions_are_not_registered_is_refused() -> None:
    harness = OperatorHarness()
    job = {"name": "report", "tasks": [{"taskId": "a", "name": "nobody"}]}
    with pytest.raises(InvalidTrigger, match=r"tasks.0.name: 'nobody' is not a registered task"):
        harness.operator.apply(TENANT, a_trigger(job=job))
    assert harness.rules.rules == {}
    harness.operator.register(TENANT, "nobody", a_definition())
    assert harness.apply(a_trigger(job=job)).enabled


def test_a_definition_that_an_event_names_is_not_looked_for() -> None:
    job = {"name": "any", "tasks": [{"taskId": "a", "name": "{{event.detail.definition}}"}]}
    assert OperatorHarness().apply(a_trigger(job=job)).enabled


def test_everything_that_is_wrong_with_a_trigger_is_found_at_once_and_in_its_place() -> None:
    harness = OperatorHarness()
    tasks = [{"taskId": "a", "name": "scarpe"}, {"taskId": "b", "name": "brought"}]
    job = {"name": "report", "notify": {"channel": "#brand"}, "tasks": [*tasks, *tasks[:1]]}
    trigger = a_trigger(schedule="cron(0 0 1 1 ? 2020)", job=job)
    problems = harness.operator.problems_with(TENANT, trigger, brought=["brought"])
    assert [problem.path for problem in problems] == [
        ("schedule",),
        ("job", "notify", "channel"),
        ("job", "tasks", 0, "name"),
        ("job", "tasks", 2, "name"),
    ]
    unknown = "'scarpe' is not a registered task definition; did you mean 'scrape'?"
    assert problems[-1].message == unknown
