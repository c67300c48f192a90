"""Where triggers' events go. Their rules are not deployed, so who may send is asserted by name."""

from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedStage
from tests.stacks.test_bus import policies_of
from tests.stacks.test_permissions import listed, statements_of

CHANGING_RULES = {
    "events:DeleteRule",
    "events:PutRule",
    "events:PutTargets",
    "events:RemoveTargets",
}
FOURTEEN_DAYS = 14 * 24 * 3600


def queue_named(synthesized: SynthesizedStage, name: str) -> Any:
    return synthesized.one("AWS::SQS::Queue", QueueName=synthesized.stage.data_name(name))


def test_events_that_started_nothing_five_times_are_parked_for_two_weeks(
    synthesized: SynthesizedStage,
) -> None:
    policy = queue_named(synthesized, "trigger-queue")["RedrivePolicy"]
    dead_letters = synthesized.imported(policy["deadLetterTargetArn"])
    assert dead_letters == queue_named(synthesized, "trigger-queue-dlq")
    assert dead_letters["MessageRetentionPeriod"] == FOURTEEN_DAYS
    assert policy["maxReceiveCount"] == 5


@pytest.mark.parametrize("name", ["trigger-queue", "trigger-queue-dlq"])
def test_rules_of_this_stage_alone_may_deliver_from_either_bus(
    synthesized: SynthesizedStage, name: str
) -> None:
    (statement,) = (
        statement
        for policy in policies_of(synthesized, "producer-api")
        if synthesized.imported(policy["Queues"][0]) == queue_named(synthesized, name)
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    )
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    rules = statement["Condition"]["ArnLike"]["aws:SourceArn"]
    on_default, on_ours = (arn["Fn::Join"][1] for arn in rules)
    named = f"switchyard-{synthesized.stage.name}-*"
    assert on_default[-1].endswith(f":rule/{named}")
    assert on_ours[-1] == f"/{named}"
    assert on_ours[-3].endswith(":rule/")


def test_what_is_refused_raises_an_alarm(synthesized: SynthesizedStage) -> None:
    alarm = synthesized.one("AWS::CloudWatch::Alarm", MetricName="TriggersRefused")
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)
    dimensions = {one["Name"]: one["Value"] for one in alarm["Dimensions"]}
    assert dimensions == {"service": "start-triggered", "stage": synthesized.stage.name}


def test_an_output_names_the_queue_that_rules_send_to(synthesized: SynthesizedStage) -> None:
    outputs = synthesized.template("producer-api")["Outputs"]
    assert synthesized.imported(outputs["TriggerQueueArn"]["Value"]) == queue_named(
        synthesized, "trigger-queue"
    )
    dead_letters = synthesized.imported(outputs["TriggerDeadLettersArn"]["Value"])
    assert dead_letters == queue_named(synthesized, "trigger-queue-dlq")


def test_operators_know_the_bus_by_its_stage(synthesized: SynthesizedStage) -> None:
    assert (
        synthesized.one("AWS::Events::EventBus")["Name"] == f"switchyard-{synthesized.stage.name}"
    )


def test_the_bucket_notifies_eventbridge_of_uploads(synthesized: SynthesizedStage) -> None:
    emitted = synthesized.one("AWS::S3::Bucket")["NotificationConfiguration"]
    assert emitted == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}


def test_the_api_puts_rules_of_this_stage_alone_and_only_for_the_trigger_queue(
    synthesized: SynthesizedStage,
) -> None:
    found = [
        statement
        for statement in statements_of(synthesized, "api")
        if any(action in CHANGING_RULES for action in listed(statement["Action"]))
    ]
    named = f"switchyard-{synthesized.stage.name}-*"
    for statement in found:
        assert all(arn["Fn::Join"][1][-1].endswith(named) for arn in statement["Resource"])
    (targets,) = (one for one in found if "events:PutTargets" in listed(one["Action"]))
    allowed = targets["Condition"]["ForAllValues:ArnEquals"]["events:TargetArn"]
    assert synthesized.imported(allowed) == queue_named(synthesized, "trigger-queue")
    assert targets["Condition"]["Null"] == {"events:TargetArn": "false"}
