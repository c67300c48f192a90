import json
from typing import Any

import pytest

from tests.stacks.synthesized import Properties, SynthesizedYard

FOURTEEN_DAYS = 14 * 24 * 3600
QUEUES = (
    "alerts-queue",
    "task-queue",
    "dispatch-queue",
    "event-queue",
    "job-queue",
    "trigger-queue",
)
KEPT_BY_ALERT = (
    "dispatch-queue-dlq",
    "event-queue-dlq",
    "job-queue-dlq",
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
        if queue_of(yard, alarm) == yard.stage.data_name(name)
        and (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    }


def queue_of(yard: SynthesizedYard, alarm: Properties) -> object:
    dimensions = alarm.get("Dimensions", [])  # an alarm on several metrics has none of its own
    queues = [d["Value"] for d in dimensions if d["Name"] in ("QueueName", "queue")]
    return yard.imported(queues[0])["QueueName"] if queues else None


def dimensions_of(alarm: Properties) -> dict[str, Any]:
    return {one["Name"]: one["Value"] for one in alarm.get("Dimensions", ())}


def counted_by(function: Properties) -> dict[str, str]:
    """The dimensions of whatever a function counts."""
    variables = function["Environment"]["Variables"]
    return {"service": variables["POWERTOOLS_SERVICE_NAME"], "stage": variables["STAGE"]}


def test_a_received_task_stays_hidden_for_fifteen_minutes(yard: SynthesizedYard) -> None:
    queue = yard.one("AWS::SQS::Queue", QueueName=yard.stage.data_name("task-queue"))
    assert queue["VisibilityTimeout"] == 900
    assert queue["ReceiveMessageWaitTimeSeconds"] == 20


def queues_with_dead_letters(yard: SynthesizedYard) -> dict[str, Properties]:
    found = [queue for queue in yard.all("AWS::SQS::Queue") if "RedrivePolicy" in queue]
    assert {queue["QueueName"] for queue in found} == {yard.stage.data_name(q) for q in QUEUES}
    return {queue["QueueName"]: queue for queue in found}


def test_what_workers_received_three_times_goes_to_the_dead_letters(yard: SynthesizedYard) -> None:
    tasks = queues_with_dead_letters(yard)[yard.stage.data_name("task-queue")]
    assert tasks["RedrivePolicy"]["maxReceiveCount"] == 3


def test_throttled_batches_do_not_park_messages_that_no_function_has_seen(
    yard: SynthesizedYard,
) -> None:
    """Lambda receives a batch, is throttled, and lets it come back: that counts as a receive."""
    read_by_functions = {
        yard.imported(mapping["EventSourceArn"])["QueueName"]
        for mapping in yard.all("AWS::Lambda::EventSourceMapping")
    }
    queues = queues_with_dead_letters(yard)
    watched = read_by_functions & queues.keys()
    assert queues.keys() - watched == {yard.stage.data_name("task-queue")}
    for name in watched:
        assert queues[name]["RedrivePolicy"]["maxReceiveCount"] >= 5


def test_every_queue_keeps_its_messages_for_two_weeks(yard: SynthesizedYard) -> None:
    """The dead-letter queues as well: a message keeps its age when it is moved."""
    kept_for = {queue.get("MessageRetentionPeriod") for queue in yard.all("AWS::SQS::Queue")}
    assert kept_for == {FOURTEEN_DAYS}


@pytest.mark.parametrize(
    "name", ["dispatch-queue", "event-queue", "job-queue", *DEAD_LETTER_QUEUES]
)
def test_a_batch_stays_hidden_for_six_runs_of_its_function(
    yard: SynthesizedYard, name: str
) -> None:
    queue = yard.one("AWS::SQS::Queue", QueueName=yard.stage.data_name(name))
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
    (alarm,) = (
        alarm
        for alarm in watching(yard, "AWS::CloudWatch::Alarm")
        if dimensions_of(alarm) == counted_by(function) and alarm["MetricName"] == metric
    )
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)


def test_what_a_worker_puts_aside_raises_an_alarm(yard: SynthesizedYard) -> None:
    container = yard.one("AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    pattern = '{ $.message = "message is put aside" }'
    counted = yard.one("AWS::Logs::MetricFilter", FilterPattern=pattern)
    assert counted["LogGroupName"] == container["LogConfiguration"]["Options"]["awslogs-group"]
    (said,) = counted["MetricTransformations"]
    alarm = yard.one("AWS::CloudWatch::Alarm", MetricName=said["MetricName"])
    assert (alarm["Namespace"], said["MetricValue"]) == (said["MetricNamespace"], "1")
    assert said["Dimensions"] == [{"Key": "stage", "Value": "$.stage"}]
    assert dimensions_of(alarm) == {"stage": yard.stage.name}
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
    dimensions = dimensions_of(alarm)
    assert yard.imported(dimensions.pop("queue"))["QueueName"] == yard.stage.data_name(name)
    assert dimensions == counted_by(function)


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
    by_alert = {yard.stage.data_name(name): yard.stage.prefixed("alert") for name in KEPT_BY_ALERT}
    processor = yard.stage.prefixed("process-dead-letters")
    assert readers == by_alert | {
        yard.stage.data_name("task-queue-dlq"): processor,
        yard.stage.data_name("alerts-queue"): yard.stage.prefixed("notify"),
    }
