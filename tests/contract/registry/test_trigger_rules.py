"""The contract of `TriggerRules`, and what EventBridge then delivers."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.contracts.triggers import parse_trigger_message
from switchyard.domain.triggers.triggers import RuleRefused
from switchyard.ports import TriggerRule, TriggerRules
from switchyard.testing.triggers import MemoryTriggerRules
from tests.contract.clouds import Cloud

RULE = TriggerRule(
    name="switchyard-test-acme.uploads",
    bus="default",
    pattern={"source": ["somebody"], "detail": {"n": [1]}},
    enabled=True,
    tenant="acme",
    trigger="uploads",
)
ON_OUR_BUS = replace(RULE, bus="switchyard")


def rules_of(cloud: Cloud) -> tuple[EventBridgeRules, str, str]:
    """Return rules with a bus and a queue of their own, and the names of both."""
    bus, sqs = cloud.fresh("harness"), cloud.client("sqs")
    cloud.client("events").create_event_bus(Name=bus)
    url = sqs.create_queue(QueueName=cloud.fresh("triggers"))["QueueUrl"]
    asked = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = asked["Attributes"]["QueueArn"]
    events = cloud.client("events")
    return EventBridgeRules(events, bus_name=bus, queue_arn=arn, dead_letters_arn=arn), bus, url


@pytest.fixture(params=["memory", "moto", "ministack"])
def rules(request: pytest.FixtureRequest) -> TriggerRules:
    if request.param == "memory":
        return MemoryTriggerRules()
    return rules_of(request.getfixturevalue(request.param))[0]


def test_a_rule_is_on_its_bus_and_on_no_other(rules: TriggerRules) -> None:
    rules.put(ON_OUR_BUS)
    assert rules.has(RULE.name, "switchyard")
    assert not rules.has(RULE.name, "default")
    rules.remove(RULE.name, "default")
    assert rules.has(RULE.name, "switchyard")


def test_a_rule_may_be_put_and_removed_again_and_again(rules: TriggerRules) -> None:
    rules.put(RULE)
    rules.put(replace(RULE, pattern=None, schedule="rate(5 minutes)", enabled=False))
    assert rules.has(RULE.name, "default")
    rules.remove(RULE.name, "default")
    rules.remove(RULE.name, "default")
    assert not rules.has(RULE.name, "default")


def deliveries(cloud: Cloud, url: str) -> list[Any]:
    received = cloud.client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    return [parse_trigger_message(message["Body"]) for message in received.get("Messages", [])]


def say(cloud: Cloud, bus: str, detail: dict[str, Any]) -> str:
    entry = {"Source": "somebody", "DetailType": "Said", "EventBusName": bus}
    answer = cloud.client("events").put_events(Entries=[entry | {"Detail": json.dumps(detail)}])
    event_id: str = answer["Entries"][0]["EventId"]
    return event_id


def test_a_message_names_the_trigger_and_carries_the_whole_event(ministack: Cloud) -> None:
    rules, _, url = rules_of(ministack)
    rules.put(RULE)
    said = {"n": 1, "text": 'with "quotes", \\ and\nlines', "deep": {"list": [1, None, "<x>"]}}
    event_id = say(ministack, "default", said)
    say(ministack, "default", {"n": 2})
    (message,) = deliveries(ministack, url)
    assert (message.tenant_id, message.trigger) == ("acme", "uploads")
    assert message.event["detail"] == said
    assert message.event["detail-type"] == "Said"
    assert message.envelope.id == event_id
    rules.remove(RULE.name, "default")


def test_a_rule_on_our_bus_hears_our_bus(ministack: Cloud) -> None:
    rules, bus, url = rules_of(ministack)
    rules.put(ON_OUR_BUS)
    say(ministack, "default", {"n": 1})
    heard = say(ministack, bus, {"n": 1})
    assert [message.envelope.id for message in deliveries(ministack, url)] == [heard]


def test_a_disabled_rule_hears_nothing_until_it_is_enabled(ministack: Cloud) -> None:
    rules, bus, url = rules_of(ministack)
    rules.put(replace(ON_OUR_BUS, enabled=False))
    say(ministack, bus, {"n": 1})
    rules.put(ON_OUR_BUS)
    heard = say(ministack, bus, {"n": 1})
    assert [message.envelope.id for message in deliveries(ministack, url)] == [heard]


def test_a_rule_that_eventbridge_does_not_take_is_refused(ministack: Cloud) -> None:
    rules, _, _ = rules_of(ministack)
    with pytest.raises(RuleRefused, match="pattern"):
        rules.put(replace(RULE, pattern={"source": [{"no-such-operator": "x"}]}))


def test_a_target_has_a_dead_letter_queue_and_retries_for_a_day(moto: Cloud) -> None:
    rules, _, url = rules_of(moto)
    rules.put(RULE)
    (target,) = moto.client("events").list_targets_by_rule(Rule=RULE.name)["Targets"]
    assert target["Arn"].rsplit(":", 1)[-1] == url.rsplit("/", 1)[-1]
    assert target["DeadLetterConfig"] == {"Arn": target["Arn"]}
    assert target["RetryPolicy"] == {
        "MaximumRetryAttempts": 185,
        "MaximumEventAgeInSeconds": 86_400,
    }


def test_messages_of_a_local_schedule_have_a_schema_that_earlier_releases_leave(
    moto: Cloud,
) -> None:
    rules, _, _ = rules_of(moto)
    rules.put(replace(RULE, pattern=None, schedule="cron(0 * * * ? *)", local_time=True))
    (target,) = moto.client("events").list_targets_by_rule(Rule=RULE.name)["Targets"]
    assert target["InputTransformer"]["InputTemplate"].startswith('{"schema": 2, ')
