"""An event ends the signals that wait for it: each once, whatever crashes and comes twice."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import TaskCompleted
from switchyard.contracts.signals import UnreadableEvent
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.signals import match_event
from tests.fakes.harnesses.held_harness import WORKER
from tests.fakes.harnesses.job_harness import Crash, crashing
from tests.fakes.harnesses.signalled_harness import SignalledHarness, a_signal, an_event

AFTER: dict[str, Any] = {**WORKER, "dependsOn": ["paid"]}


@pytest.fixture
def harness() -> SignalledHarness:
    return SignalledHarness()


def held(harness: SignalledHarness, **more: Any) -> SignalledHarness:
    """A job whose signal waits for the payment of the order 17."""
    harness.begin(paid=a_signal({"orderId": [17]}, **more), ship=AFTER)
    assert harness.state("paid") is TaskState.HELD
    return harness


def test_a_matching_event_completes_the_task_with_its_detail(harness: SignalledHarness) -> None:
    held(harness)
    matched = harness.put(an_event(orderId=17, sum=9.5))
    assert [one.ref.task_id for one in matched.ended] == ["paid"]
    assert harness.state("paid") is TaskState.COMPLETED
    assert harness.output("paid") == {"tenantId": "acme", "orderId": 17, "sum": 9.5}
    (event,) = [e for e in harness.memory.bus.events if e.event_type == "Task Completed"]
    assert isinstance(event.properties, TaskCompleted)
    assert event.properties.decided_by == "event e-1 of shop.orders"
    assert harness.waiting() == []


@pytest.mark.parametrize(
    "event",
    [
        an_event(orderId=18),
        an_event(orderId=17) | {"source": "shop.other"},
        an_event(orderId=17) | {"detail-type": "Order Sent"},
        an_event(orderId=17, tenant="acme-two"),
        an_event(orderId=17, tenant=None),
    ],
)
def test_another_event_changes_nothing(harness: SignalledHarness, event: dict[str, Any]) -> None:
    held(harness)
    assert harness.put(event).ended == []
    assert harness.state("paid") is TaskState.HELD
    assert harness.waiting() == ["paid"]


def test_an_event_that_comes_twice_counts_once(harness: SignalledHarness) -> None:
    held(harness)
    harness.put(an_event(orderId=17))
    assert harness.put(an_event(orderId=17)).ended == []
    assert harness.emitted()["Task Completed"] == 1


def test_an_event_from_before_the_task_was_ready_does_not_count(harness: SignalledHarness) -> None:
    held(harness)
    assert harness.put(an_event(orderId=17), earlier_ms=1).ended == []
    assert harness.state("paid") is TaskState.HELD


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["resolve", "emit", "remove"])
def test_a_crash_anywhere_ends_the_task_once(
    harness: SignalledHarness, monkeypatch: pytest.MonkeyPatch, step: str, *, after: bool
) -> None:
    held(harness)
    place = {
        "resolve": harness.memory.graph,
        "emit": harness.memory.bus,
        "remove": harness.memory.subscriptions,
    }[step]
    name = "put" if step == "emit" else step
    with monkeypatch.context() as patched:
        patched.setattr(place, name, crashing(getattr(place, name), after=after))
        with pytest.raises(Crash):
            harness.put(an_event(orderId=17))
    harness.put(an_event(orderId=17))
    harness.sweep(after=3600)
    assert harness.state("paid") is TaskState.COMPLETED
    assert harness.emitted()["Task Completed"] == 1
    assert harness.waiting() == []
    assert "ship" in harness.queued()


def test_a_subscription_of_an_earlier_run_does_not_end_the_next(harness: SignalledHarness) -> None:
    held(harness)
    (first,) = harness.memory.subscriptions.page("acme", "shop.orders", "Order Paid", at_most=9)
    harness.memory.subscriptions.remove(first)
    harness.memory.subscriptions.put(replace(first, run=first.run + 1))
    matched = harness.put(an_event(orderId=17))
    assert (matched.ended, matched.removed) == ([], 1)
    assert harness.state("paid") is TaskState.HELD


def test_a_repeated_event_is_the_same_request(harness: SignalledHarness) -> None:
    held(harness)
    harness.put(an_event("e-1", orderId=17))
    assert harness.task("paid").decision == "e-1"


def test_a_subscription_of_a_task_that_ended_otherwise_is_removed(
    harness: SignalledHarness,
) -> None:
    held(harness)
    harness.signal("paid", value="by hand")
    matched = harness.put(an_event(orderId=17))
    assert (matched.ended, matched.removed) == ([], 1)
    assert harness.output("paid") == "by hand"
    assert harness.waiting() == []


def test_a_task_that_is_about_to_be_held_gets_the_event_when_it_is(
    harness: SignalledHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = harness.memory.graph
    with monkeypatch.context() as patched:
        patched.setattr(graph, "hold", crashing(graph.hold, after=False))
        with pytest.raises(Crash):
            harness.begin(paid=a_signal({"orderId": [17]}))
    assert harness.state("paid") is TaskState.READY
    with pytest.raises(Unavailable, match="not held yet"):
        harness.put(an_event(orderId=17))
    assert harness.waiting() == ["paid"]
    came = 60_000
    harness.sweep(after=came / 1000)
    assert harness.state("paid") is TaskState.HELD
    assert len(harness.put(an_event(orderId=17), earlier_ms=came).ended) == 1


def test_a_detail_that_does_not_fit_the_schema_leaves_the_task_waiting(
    harness: SignalledHarness,
) -> None:
    held(harness, valueSchema={"type": "object", "required": ["sum"]})
    ((one, reason),) = harness.put(an_event(orderId=17)).refused
    assert one.ref.task_id == "paid"
    assert "sum" in reason
    assert harness.state("paid") is TaskState.HELD
    assert len(harness.put(an_event("e-2", orderId=17, sum=1)).ended) == 1


def test_a_time_that_is_up_fails_the_task_and_later_events_are_ignored(
    harness: SignalledHarness,
) -> None:
    held(harness, timeout="1h")
    harness.sweep(after=3601)
    assert harness.state("paid") is TaskState.FAILED
    assert harness.put(an_event(orderId=17)).ended == []
    assert harness.waiting() == []


def test_one_event_ends_many_tasks_in_parts(
    harness: SignalledHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_event, "MOST_ENDED", 2)
    names = [f"t{number}" for number in range(5)]
    harness.begin(**{name: a_signal() for name in names})
    body = json.dumps(an_event())
    ended = []
    for _ in range(3):
        ended.append(len(harness.deliver(body).ended))
        body = harness.sent_again.bodies[-1]
    assert ended == [2, 2, 1]
    assert len(harness.sent_again.bodies) == 2
    assert {harness.state(name) for name in names} == {TaskState.COMPLETED}


def test_very_many_that_wait_for_something_else_are_read_in_parts(
    harness: SignalledHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_event, "AT_ONCE", 2)
    monkeypatch.setattr(match_event, "MOST_READ", 4)
    tasks = {f"t{number}": a_signal({"orderId": [number]}) for number in range(7)}
    harness.begin(**tasks)
    first = harness.put(an_event(orderId=6))
    assert (first.ended, first.goes_on) == ([], True)
    rest = harness.deliver(harness.sent_again.bodies[0])
    assert [one.ref.task_id for one in rest.ended] == ["t6"]
    assert not rest.goes_on


@pytest.mark.parametrize("body", ["poison", "{}", json.dumps(an_event() | {"detail": [1]})])
def test_what_no_rule_sends_is_refused(harness: SignalledHarness, body: str) -> None:
    with pytest.raises(UnreadableEvent):
        harness.deliver(body)


def test_a_pattern_is_filled_with_inputs_and_outputs(harness: SignalledHarness) -> None:
    wanted = {"orderId": ["${tasks.order.output.id}"], "shop": ["${input.shop}"]}
    given = {"shop": "${tasks.order.output.shop}"}
    harness.begin(order=WORKER, paid=a_signal(wanted, dependsOn=["order"], input=given))
    harness.complete("order", {"id": 17, "shop": "a ${tasks.x.output}"})
    assert harness.put(an_event(orderId=18, shop="a ${tasks.x.output}")).ended == []
    assert len(harness.put(an_event(orderId=17, shop="a ${tasks.x.output}")).ended) == 1


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({}, "event: ${tasks.order.output.id} has no value: output has no member 'id'"),
        ({"id": {"a": 1}}, "event: the filled pattern cannot be used: detail.orderId: {a} is no"),
        ({"id": "x" * 1001}, "event: the filled pattern cannot be used: detail.orderId: a text"),
        ({"id": ["x"]}, "event: the filled pattern cannot be used: detail.orderId: a list"),
        ({"id": 1, "more": "x" * 1_000_001}, "event: the outputs have more than 1,000,000 bytes"),
    ],
)
def test_a_pattern_that_cannot_be_filled_fails_the_task_and_the_job(
    harness: SignalledHarness, output: Any, said: str
) -> None:
    wanted = {"orderId": ["${tasks.order.output.id}"]}
    harness.begin(order=WORKER, paid=a_signal(wanted, dependsOn=["order"]))
    harness.complete("order", output)
    assert harness.state("paid") is TaskState.FAILED
    outcome = harness.task("paid").outcome
    assert outcome is not None
    assert str(outcome.error).startswith(said)
    assert outcome.error_category == "event_pattern"
    assert harness.waiting() == []
    assert harness.emitted()["Task Held"] == 0
    harness.wake("paid")
    assert harness.job_state() is JobState.FAILED


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["put", "hold", "give_up"])
def test_a_crash_before_a_signal_is_held_leaves_nothing_undone(
    harness: SignalledHarness, monkeypatch: pytest.MonkeyPatch, step: str, *, after: bool
) -> None:
    fails = step == "give_up"
    wanted = {"orderId": ["${tasks.order.output.id}"]}
    harness.begin(order=WORKER, paid=a_signal(wanted, dependsOn=["order"]))
    memory = harness.memory
    place: Any = {"put": memory.subscriptions, "hold": memory.graph, "give_up": memory.leases}[step]
    with monkeypatch.context() as patched:
        patched.setattr(place, step, crashing(getattr(place, step), after=after))
        with pytest.raises(Crash):
            harness.complete("order", {} if fails else {"id": 17})
    harness.sweep(after=120)
    harness.sweep(after=120)
    expected = TaskState.FAILED if fails else TaskState.HELD
    assert harness.state("paid") is expected
    assert harness.waiting() == ([] if fails else ["paid"])
    emitted = harness.emitted()
    assert (emitted["Task Held"], emitted["Task Failed"]) == ((0, 1) if fails else (1, 0))
