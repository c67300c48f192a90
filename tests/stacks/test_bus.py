from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedStage

EVENTBRIDGES_DEFAULT = {"MaximumRetryAttempts": 185, "MaximumEventAgeInSeconds": 86_400}
SETTLED = {"Task Completed", "Task Failed", "Task Timeout", "Task Skipped", "Task Cancelled"}


def rule_of(synthesized: SynthesizedStage, part: str) -> Any:
    resources = synthesized.template(part)["Resources"].values()
    (rule,) = (r["Properties"] for r in resources if r["Type"] == "AWS::Events::Rule")
    return rule


def policies_of(synthesized: SynthesizedStage, part: str) -> list[Any]:
    resources = synthesized.template(part)["Resources"].values()
    return [r["Properties"] for r in resources if r["Type"] == "AWS::SQS::QueuePolicy"]


def test_every_event_is_saved(synthesized: SynthesizedStage) -> None:
    assert rule_of(synthesized, "event")["EventPattern"] == {"detail-type": ["log-event"]}


def test_settled_tasks_and_new_jobs_wake_the_dispatcher(synthesized: SynthesizedStage) -> None:
    pattern = rule_of(synthesized, "dispatcher")["EventPattern"]
    assert pattern["detail-type"] == ["log-event"]
    assert set(pattern["detail"]["eventType"]) == SETTLED | {"Job Created"}


@pytest.mark.parametrize(
    ("part", "queue"), [("event", "event-queue"), ("dispatcher", "dispatch-queue")]
)
def test_a_delivery_is_retried_for_a_day_and_then_parked(
    synthesized: SynthesizedStage, part: str, queue: str
) -> None:
    (target,) = rule_of(synthesized, part)["Targets"]
    assert synthesized.imported(target["Arn"])["QueueName"] == synthesized.stage.data_name(queue)
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
    assert len(deliveries) == 3  # the two subscribers, and where the undeliverable goes
    for statement in deliveries:
        assert statement["Principal"] == {"Service": "events.amazonaws.com"}
        assert statement["Action"] == "sqs:SendMessage"
        source = statement["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::Join"][1]
        assert source[-1] == "/*"
        assert source[-3].endswith(":rule/")


def test_events_are_archived_where_the_stage_says(synthesized: SynthesizedStage) -> None:
    kept_for = [archive["RetentionDays"] for archive in synthesized.all("AWS::Events::Archive")]
    assert kept_for == ([synthesized.stage.archive_days] if synthesized.stage.archive_days else [])
