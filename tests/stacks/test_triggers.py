"""Where triggers' events go. Their rules are not deployed, so who may send is asserted by name."""

from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedYard
from tests.stacks.test_bus import policies_of

FOURTEEN_DAYS = 14 * 24 * 3600


def queue_named(yard: SynthesizedYard, name: str) -> Any:
    return yard.one("AWS::SQS::Queue", QueueName=yard.stage.data_name(name))


def test_events_that_started_nothing_five_times_are_parked_for_two_weeks(
    yard: SynthesizedYard,
) -> None:
    policy = queue_named(yard, "trigger-queue")["RedrivePolicy"]
    dead_letters = yard.imported(policy["deadLetterTargetArn"])
    assert dead_letters == queue_named(yard, "trigger-queue-dlq")
    assert dead_letters["MessageRetentionPeriod"] == FOURTEEN_DAYS
    assert policy["maxReceiveCount"] == 5


@pytest.mark.parametrize("name", ["trigger-queue", "trigger-queue-dlq"])
def test_rules_of_this_stage_alone_may_deliver_from_either_bus(
    yard: SynthesizedYard, name: str
) -> None:
    (statement,) = (
        statement
        for policy in policies_of(yard, "producer-api")
        if yard.imported(policy["Queues"][0]) == queue_named(yard, name)
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    )
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    rules = statement["Condition"]["ArnLike"]["aws:SourceArn"]
    on_default, on_ours = (arn["Fn::Join"][1] for arn in rules)
    named = f"switchyard-{yard.stage.name}-*"
    assert on_default[-1].endswith(f":rule/{named}")
    assert on_ours[-1] == f"/{named}"
    assert on_ours[-3].endswith(":rule/")


def test_what_is_refused_raises_an_alarm(yard: SynthesizedYard) -> None:
    alarm = yard.one("AWS::CloudWatch::Alarm", MetricName="TriggersRefused")
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)
    dimensions = {one["Name"]: one["Value"] for one in alarm["Dimensions"]}
    assert dimensions == {"service": "start-triggered", "stage": yard.stage.name}


def test_operators_are_told_where_rules_send_to(yard: SynthesizedYard) -> None:
    outputs = yard.template("producer-api")["Outputs"]
    assert yard.imported(outputs["TriggerQueueArn"]["Value"]) == queue_named(yard, "trigger-queue")
    dead_letters = yard.imported(outputs["TriggerDeadLettersArn"]["Value"])
    assert dead_letters == queue_named(yard, "trigger-queue-dlq")


def test_operators_know_the_bus_by_its_stage(yard: SynthesizedYard) -> None:
    assert yard.one("AWS::Events::EventBus")["Name"] == f"switchyard-{yard.stage.name}"


def test_the_bucket_tells_eventbridge_of_uploads(yard: SynthesizedYard) -> None:
    told = yard.one("AWS::S3::Bucket")["NotificationConfiguration"]
    assert told == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
