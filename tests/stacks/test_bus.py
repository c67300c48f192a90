from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedStage

EVENTBRIDGES_DEFAULT = {"MaximumRetryAttempts": 185, "MaximumEventAgeInSeconds": 86_400}
SETTLED = {"Task Completed", "Task Failed", "Task Timeout", "Task Skipped", "Task Cancelled"}


def rule_for(synthesized: SynthesizedStage, queue: str) -> Any:
    """Return the one rule of the bus that sends to this queue."""
    named = synthesized.stage.data_name(queue)
    (rule,) = (
        rule
        for part in ("event", "dispatcher")
        for resource in synthesized.template(part)["Resources"].values()
        if resource["Type"] == "AWS::Events::Rule"
        for rule in [resource["Properties"]]
        if synthesized.imported(rule["Targets"][0]["Arn"])["QueueName"] == named
    )
    return rule


def policies_of(synthesized: SynthesizedStage, part: str) -> list[Any]:
    resources = synthesized.template(part)["Resources"].values()
    return [r["Properties"] for r in resources if r["Type"] == "AWS::SQS::QueuePolicy"]


def test_every_event_is_saved(synthesized: SynthesizedStage) -> None:
    assert rule_for(synthesized, "event-queue")["EventPattern"] == {"detail-type": ["log-event"]}


def test_settled_tasks_and_new_jobs_wake_the_dispatcher(synthesized: SynthesizedStage) -> None:
    pattern = rule_for(synthesized, "dispatch-queue")["EventPattern"]
    assert pattern["detail-type"] == ["log-event"]
    assert set(pattern["detail"]["eventType"]) == SETTLED | {"Job Created"}


def test_signals_wait_for_events_of_other_programs_that_name_a_tenant(
    synthesized: SynthesizedStage,
) -> None:
    assert rule_for(synthesized, "signal-queue")["EventPattern"] == {
        "detail-type": [{"anything-but": ["log-event"]}],
        "detail": {"tenantId": [{"exists": True}]},
    }


@pytest.mark.parametrize("queue", ["event-queue", "dispatch-queue", "signal-queue"])
def test_a_delivery_is_retried_for_a_day_and_then_parked(
    synthesized: SynthesizedStage, queue: str
) -> None:
    (target,) = rule_for(synthesized, queue)["Targets"]
    assert target["RetryPolicy"] == EVENTBRIDGES_DEFAULT
    undeliverable = synthesized.imported(target["DeadLetterConfig"]["Arn"])
    assert undeliverable["QueueName"] == synthesized.stage.data_name("undeliverable-events-dlq")


def test_no_rule_gives_up_sooner_than_eventbridge_does_by_default(
    synthesized: SynthesizedStage,
) -> None:
    targets = [
        target for rule in synthesized.all("AWS::Events::Rule") for target in rule["Targets"]
    ]
    assert targets
    for target in targets:
        assert target.get("RetryPolicy", EVENTBRIDGES_DEFAULT) == EVENTBRIDGES_DEFAULT


def test_rules_of_this_bus_alone_may_deliver(synthesized: SynthesizedStage) -> None:
    deliveries = [
        statement
        for policy in policies_of(synthesized, "infrastructure")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    assert len(deliveries) == 4  # the three subscribers, and where the undeliverable goes
    for statement in deliveries:
        assert statement["Principal"] == {"Service": "events.amazonaws.com"}
        assert statement["Action"] == "sqs:SendMessage"
        source = statement["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::Join"][1]
        assert source[-1] == "/*"
        assert source[-3].endswith(":rule/")


def test_events_are_archived_where_the_stage_says(synthesized: SynthesizedStage) -> None:
    kept_for = [archive["RetentionDays"] for archive in synthesized.all("AWS::Events::Archive")]
    assert kept_for == ([synthesized.stage.archive_days] if synthesized.stage.archive_days else [])
