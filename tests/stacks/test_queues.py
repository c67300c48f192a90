import json

import pytest

from tests.stacks.synthesized import SynthesizedYard

FOURTEEN_DAYS = 14 * 24 * 3600
QUEUES = ("task-queue", "dispatch-queue", "event-queue")
DEAD_LETTER_QUEUES = (*(f"{name}-dlq" for name in QUEUES), "undeliverable-events-dlq")


def test_a_received_task_stays_hidden_for_fifteen_minutes(yard: SynthesizedYard) -> None:
    queue = yard.one("AWS::SQS::Queue", QueueName=yard.stage.suffixed("task-queue"))
    assert queue["VisibilityTimeout"] == 900
    assert queue["ReceiveMessageWaitTimeSeconds"] == 20


@pytest.mark.parametrize("name", QUEUES)
def test_what_was_received_three_times_goes_to_the_dead_letters(
    yard: SynthesizedYard, name: str
) -> None:
    queue = yard.one("AWS::SQS::Queue", QueueName=yard.stage.suffixed(name))
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 3


@pytest.mark.parametrize("name", DEAD_LETTER_QUEUES)
def test_dead_letters_are_kept_for_two_weeks(yard: SynthesizedYard, name: str) -> None:
    queue = yard.one("AWS::SQS::Queue", QueueName=yard.stage.suffixed(name))
    assert queue["MessageRetentionPeriod"] == FOURTEEN_DAYS


@pytest.mark.parametrize("name", ["dispatch-queue", "event-queue"])
def test_a_batch_stays_hidden_for_six_runs_of_its_function(
    yard: SynthesizedYard, name: str
) -> None:
    queue = yard.one("AWS::SQS::Queue", QueueName=yard.stage.suffixed(name))
    longest = max(function["Timeout"] for function in yard.all("AWS::Lambda::Function"))
    assert queue["VisibilityTimeout"] >= 6 * longest


def test_every_queue_is_encrypted(yard: SynthesizedYard) -> None:
    assert all(queue["SqsManagedSseEnabled"] for queue in yard.all("AWS::SQS::Queue"))


def test_every_queue_refuses_what_does_not_come_over_tls(yard: SynthesizedYard) -> None:
    guarded = {
        json.dumps(policy["Queues"])
        for policy in yard.all("AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert len(guarded) == len(yard.all("AWS::SQS::Queue"))


def test_dead_letters_of_every_kind_raise_an_alarm(yard: SynthesizedYard) -> None:
    resources = yard.template("health-check")["Resources"].values()
    watched = [r["Properties"] for r in resources if r["Type"] == "AWS::CloudWatch::Alarm"]
    assert len(watched) == len(DEAD_LETTER_QUEUES)
    for alarm in watched:
        assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert len({json.dumps(alarm["Dimensions"]) for alarm in watched}) == len(watched)
