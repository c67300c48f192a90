import json
from typing import Any

import pytest

from tests.stacks.synthesized import Properties, SynthesizedYard

FOURTEEN_DAYS = 14 * 24 * 3600
QUEUES = ("alerts-queue", "task-queue", "dispatch-queue", "event-queue", "trigger-queue")
KEPT_BY_ALERT = (
    "dispatch-queue-dlq",
    "event-queue-dlq",
    "trigger-queue-dlq",
    "undeliverable-events-dlq",
)
DEAD_LETTER_QUEUES = ("task-queue-dlq", *KEPT_BY_ALERT)
VISIBLE = "ApproximateNumberOfMessagesVisible"
HIDDEN = "ApproximateNumberOfMessagesNotVisible"


def watching(yard: SynthesizedYard, resource_type: str) -> list[Any]:
    resources = yard.template("health-check")["Resources"].values()
    return [r["Properties"] for r in resources if r["Type"] == resource_type]


def alarms_on(yard: SynthesizedYard, name: str) -> dict[str, Any]:
    """The alarms that watch a queue for more than nothing, by metric."""
    return {
        alarm["MetricName"]: alarm
        for alarm in watching(yard, "AWS::CloudWatch::Alarm")
        if queue_of(yard, alarm) == yard.stage.suffixed(name)
        and (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    }


def queue_of(yard: SynthesizedYard, alarm: Properties) -> object:
    dimensions = alarm.get("Dimensions", [])  # an alarm on several metrics has none of its own
    queues = [d["Value"] for d in dimensions if d["Name"] in ("QueueName", "queue")]
    return yard.imported(queues[0])["QueueName"] if queues else None


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


@pytest.mark.parametrize("name", ["dispatch-queue", "event-queue", *DEAD_LETTER_QUEUES])
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


@pytest.mark.parametrize("name", KEPT_BY_ALERT)
def test_undeliverable_events_of_every_kind_raise_an_alarm(
    yard: SynthesizedYard, name: str
) -> None:
    alarm = alarms_on(yard, name)["Undeliverable"]
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 1)


@pytest.mark.parametrize("metric", ["Received", "Quarantined"])
def test_dead_letters_of_tasks_raise_an_alarm(yard: SynthesizedYard, metric: str) -> None:
    function = yard.one(
        "AWS::Lambda::Function", FunctionName=yard.stage.prefixed("process-dead-letters")
    )
    variables = function["Environment"]["Variables"]
    service = {"Name": "service", "Value": variables["POWERTOOLS_SERVICE_NAME"]}
    (alarm,) = (
        alarm
        for alarm in watching(yard, "AWS::CloudWatch::Alarm")
        if alarm.get("Dimensions") == [service] and alarm["MetricName"] == metric
    )
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)


def test_what_a_worker_puts_aside_raises_an_alarm(yard: SynthesizedYard) -> None:
    container = yard.one("AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    counted = yard.one("AWS::Logs::MetricFilter")
    assert counted["LogGroupName"] == container["LogConfiguration"]["Options"]["awslogs-group"]
    assert counted["FilterPattern"] == '{ $.message = "message is put aside" }'
    (said,) = counted["MetricTransformations"]
    alarm = yard.one("AWS::CloudWatch::Alarm", MetricName=said["MetricName"])
    assert (alarm["Namespace"], said["MetricValue"]) == (said["MetricNamespace"], "1")
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)


@pytest.mark.parametrize("name", DEAD_LETTER_QUEUES)
@pytest.mark.parametrize("depth", [VISIBLE, HIDDEN])
def test_dead_letters_that_are_not_drained_for_five_minutes_raise_an_alarm(
    yard: SynthesizedYard, name: str, depth: str
) -> None:
    alarm = alarms_on(yard, name)[depth]
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 5)
    assert alarm["Statistic"] == "Maximum"


@pytest.mark.parametrize("name", KEPT_BY_ALERT)
def test_arrivals_are_counted_under_the_name_that_the_alarm_watches(
    yard: SynthesizedYard, name: str
) -> None:
    function = yard.one("AWS::Lambda::Function", FunctionName=yard.stage.prefixed("alert"))
    variables = function["Environment"]["Variables"]
    alarm = alarms_on(yard, name)["Undeliverable"]
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert alarm["Statistic"] == "Sum"
    service = {"Name": "service", "Value": variables["POWERTOOLS_SERVICE_NAME"]}
    assert service in alarm["Dimensions"]
    assert len(alarm["Dimensions"]) == 2


def test_every_dead_letter_queue_is_read_by_the_function_that_understands_it(
    yard: SynthesizedYard,
) -> None:
    resources = yard.template("health-check")["Resources"]
    readers = {
        yard.imported(mapping["EventSourceArn"])["QueueName"]: resources[
            mapping["FunctionName"]["Ref"]
        ]["Properties"]["FunctionName"]
        for mapping in watching(yard, "AWS::Lambda::EventSourceMapping")
    }
    by_alert = {yard.stage.suffixed(name): yard.stage.prefixed("alert") for name in KEPT_BY_ALERT}
    processor = yard.stage.prefixed("process-dead-letters")
    assert readers == by_alert | {
        yard.stage.suffixed("task-queue-dlq"): processor,
        yard.stage.suffixed("alerts-queue"): yard.stage.prefixed("notify"),
    }
