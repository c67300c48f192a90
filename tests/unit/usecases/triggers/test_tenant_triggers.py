"""What tenants may do with triggers themselves, and what only operators may."""

from typing import Any

import pytest

from switchyard.contracts.triggers import FireTrigger, TriggerContent, parse_trigger_message
from switchyard.domain.errors import Conflict, InvalidTrigger
from switchyard.domain.triggers.triggers import UnknownTrigger
from switchyard.usecases.triggers.tenant_triggers import MAX_TRIGGERS, TenantTriggers
from tests.builders import TENANT, a_definition
from tests.fakes.harnesses.triggered_harness import ON_JOBS, REPORT, CountedIds
from tests.fakes.triggers import NIGHTLY_JOB, UPLOADS, a_trigger
from tests.unit.usecases.triggers.test_operate_triggers import OperatorHarness

NIGHTLY: dict[str, Any] = {
    "schedule": "cron(0 3 * * ? *)",
    "timeZone": "Europe/Berlin",
    "job": NIGHTLY_JOB,
}


class Registry(OperatorHarness):
    def __init__(self) -> None:
        super().__init__()
        self.definitions.put("other", "scrape", a_definition())
        self.triggers = TenantTriggers(operator=self.operator, clock=self.clock, ids=CountedIds())

    def put(self, name: str = "nightly", *, tenant: str = TENANT, **facts: Any) -> Any:
        content = TriggerContent.model_validate(facts or NIGHTLY)
        return self.triggers.put(tenant, name, content)


def test_a_tenant_adds_lists_and_deletes_its_triggers() -> None:
    registry = Registry()
    put = registry.put()
    assert (put.enabled, f"{put.next_run:%H:%M}") == (True, "02:00")
    assert registry.triggers.all(TENANT).triggers == (put,)
    assert registry.triggers.read(TENANT, "nightly") == put
    assert registry.triggers.delete(TENANT, "nightly") == put
    assert registry.triggers.all(TENANT).triggers == ()
    assert registry.rules.rules == {}


def test_one_tenant_neither_sees_nor_changes_the_triggers_of_another() -> None:
    registry = Registry()
    mine = registry.put()
    registry.put(tenant="other", **NIGHTLY | {"schedule": "cron(0 4 * * ? *)"})
    assert registry.triggers.read(TENANT, "nightly") == mine
    registry.triggers.delete("other", "nightly")
    for call in (
        lambda: registry.triggers.read("other", "nightly"),
        lambda: registry.triggers.delete("other", "nightly"),
        lambda: registry.triggers.switch("other", "nightly", on=False),
        lambda: registry.triggers.fire("other", "nightly", FireTrigger()),
    ):
        with pytest.raises(UnknownTrigger):
            call()
    assert registry.triggers.all("other").triggers == ()
    assert registry.triggers.all(TENANT).triggers == (mine,)
    assert len(registry.rules.rules) == 1


def test_the_default_bus_is_for_operators() -> None:
    registry = Registry()
    with pytest.raises(InvalidTrigger, match=r"on\.bus: must be switchyard"):
        registry.put("uploads", on=UPLOADS, job=REPORT)
    registry.operator.apply(TENANT, a_trigger())
    assert registry.triggers.read(TENANT, "uploads").enabled
    for call in (
        lambda: registry.put("uploads"),
        lambda: registry.triggers.delete(TENANT, "uploads"),
        lambda: registry.triggers.switch(TENANT, "uploads", on=False),
    ):
        with pytest.raises(Conflict, match="operators alone change it"):
            call()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"schedule": "rate(1 day)", "job": {"tasks": []}}, "job.tasks"),
        ({"on": {"bus": "switchyard", "pattern": {}}, "job": REPORT}, "on.pattern: would match"),
        ({"schedule": "rate(1 day)", "job": REPORT | {"tags": {"trigger": "x"}}}, "tag of ours"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidTrigger, match=words):
        Registry().put(**facts)


def test_a_name_that_no_trigger_may_have_is_refused() -> None:
    with pytest.raises(InvalidTrigger, match="name"):
        Registry().put("no name.")
    with pytest.raises(UnknownTrigger):
        Registry().triggers.read(TENANT, "no name.")


def test_a_tenant_has_no_more_triggers_than_fit_but_may_change_them() -> None:
    registry = Registry()
    for number in range(MAX_TRIGGERS):
        registry.put(f"t-{number}")
    with pytest.raises(Conflict, match="no more than 20 fit"):
        registry.put("one-more")
    assert registry.put("t-3", **NIGHTLY | {"description": "changed"}).enabled
    assert registry.put("other-tenants", tenant="other").enabled


def test_a_schedule_is_fired_without_an_event_and_is_marked() -> None:
    registry = Registry()
    registry.put()
    fired = registry.triggers.fire(TENANT, "nightly", FireTrigger())
    (received,) = registry.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=99)
    message = parse_trigger_message(received.body)
    assert (message.tenant_id, message.trigger, message.by_hand) == (TENANT, "nightly", True)
    assert message.envelope.id == fired.event_id


def test_a_trigger_that_waits_for_events_is_fired_with_one() -> None:
    registry = Registry()
    registry.put("done", on=ON_JOBS, job=REPORT)
    with pytest.raises(InvalidTrigger, match="event: is needed"):
        registry.triggers.fire(TENANT, "done", FireTrigger())
    with pytest.raises(InvalidTrigger, match=r"event\.id"):
        registry.triggers.fire(TENANT, "done", FireTrigger(event={"id": "a b"}))
    with pytest.raises(InvalidTrigger, match="more than 200,000 bytes"):
        registry.triggers.fire(TENANT, "done", FireTrigger(event={"detail": "x" * 200_000}))
    assert (
        registry.triggers.fire(TENANT, "done", FireTrigger(event={"id": "e-1"})).event_id == "e-1"
    )


def test_a_disabled_trigger_is_not_fired() -> None:
    registry = Registry()
    registry.put()
    assert registry.triggers.switch(TENANT, "nightly", on=False).next_run is None
    with pytest.raises(Conflict, match="disabled"):
        registry.triggers.fire(TENANT, "nightly", FireTrigger())
