import json
from typing import Any

import pytest

from tests.stacks.synthesized import Properties, SynthesizedStage, further_queues

FOURTEEN_DAYS = 14 * 24 * 3600
QUEUES = (
    "alerts-queue",
    "task-queue",
    "dispatch-queue",
    "event-queue",
    "job-queue",
    "signal-queue",
    "trigger-queue",
)
KEPT_BY_ALERT = (
    "dispatch-queue-dlq",
    "event-queue-dlq",
    "job-queue-dlq",
    "signal-queue-dlq",
    "trigger-queue-dlq",
    "undeliverable-events-dlq",
)
DEAD_LETTER_QUEUES = ("task-queue-dlq", *KEPT_BY_ALERT)
VISIBLE = "ApproximateNumberOfMessagesVisible"
HIDDEN = "ApproximateNumberOfMessagesNotVisible"


def watching(synthesized: SynthesizedStage, resource_type: str) -> list[Any]:
    resources = synthesized.template("health-check")["Resources"].values()
    return [r["Properties"] for r in resources if r["Type"] == resource_type]


def alarms_on(synthesized: SynthesizedStage, name: str) -> dict[str, Any]:
    """The alarms that watch a queue for more than nothing, by metric."""
    return {
        alarm["MetricName"]: alarm
        for alarm in watching(synthesized, "AWS::CloudWatch::Alarm")
        if queue_of(synthesized, alarm) == synthesized.stage.data_name(name)
        and (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    }


def queue_of(synthesized: SynthesizedStage, alarm: Properties) -> object:
    dimensions = alarm.get("Dimensions", [])  # an alarm on several metrics has none of its own
    queues = [d["Value"] for d in dimensions if d["Name"] in ("QueueName", "queue")]
    return synthesized.imported(queues[0])["QueueName"] if queues else None


def dimensions_of(alarm: Properties) -> dict[str, Any]:
    return {one["Name"]: one["Value"] for one in alarm.get("Dimensions", ())}


def counted_by(function: Properties) -> dict[str, str]:
    """The dimensions of whatever a function counts."""
    variables = function["Environment"]["Variables"]
    return {"service": variables["POWERTOOLS_SERVICE_NAME"], "stage": variables["STAGE"]}


def test_a_received_task_stays_hidden_for_fifteen_minutes(synthesized: SynthesizedStage) -> None:
    queue = synthesized.one("AWS::SQS::Queue", QueueName=synthesized.stage.data_name("task-queue"))
    assert queue["VisibilityTimeout"] == 900
    assert queue["ReceiveMessageWaitTimeSeconds"] == 20


def queues_with_dead_letters(synthesized: SynthesizedStage) -> dict[str, Properties]:
    found = [queue for queue in synthesized.all("AWS::SQS::Queue") if "RedrivePolicy" in queue]
    assert {queue["QueueName"] for queue in found} == {
        synthesized.stage.data_name(q) for q in (*QUEUES, *further_queues(synthesized.stage))
    }
    return {queue["QueueName"]: queue for queue in found}


def test_what_workers_received_three_times_goes_to_the_dead_letters(
    synthesized: SynthesizedStage,
) -> None:
    queues = queues_with_dead_letters(synthesized)
    for name in ("task-queue", *further_queues(synthesized.stage)):
        tasks = queues[synthesized.stage.data_name(name)]
        assert tasks["RedrivePolicy"]["maxReceiveCount"] == 3


def test_throttled_batches_do_not_park_messages_that_no_function_has_seen(
    synthesized: SynthesizedStage,
) -> None:
    """Lambda receives a batch, is throttled, and lets it come back: that counts as a receive."""
    read_by_functions = {
        synthesized.imported(mapping["EventSourceArn"])["QueueName"]
        for mapping in synthesized.all("AWS::Lambda::EventSourceMapping")
    }
    queues = queues_with_dead_letters(synthesized)
    watched = read_by_functions & queues.keys()
    assert queues.keys() - watched == {
        synthesized.stage.data_name(name)
        for name in ("task-queue", *further_queues(synthesized.stage))
    }
    for name in watched:
        assert queues[name]["RedrivePolicy"]["maxReceiveCount"] >= 5


def test_a_queue_whose_function_is_not_invoked_raises_an_alarm(
    synthesized: SynthesizedStage,
) -> None:
    """No error is counted then, and no dead letter comes."""
    readers = {
        synthesized.imported(mapping["EventSourceArn"])["QueueName"]: synthesized.imported(
            mapping["FunctionName"]
        )["FunctionName"]
        for mapping in synthesized.all("AWS::Lambda::EventSourceMapping")
    }
    oldest = {
        queue_of(synthesized, alarm): alarm
        for alarm in synthesized.all("AWS::CloudWatch::Alarm")
        if alarm.get("MetricName") == "ApproximateAgeOfOldestMessage"
    }
    assert oldest.keys() == readers.keys() & queues_with_dead_letters(synthesized).keys()
    for queue, alarm in oldest.items():
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 900)
        assert (alarm["Statistic"], alarm["EvaluationPeriods"]) == ("Maximum", 5)
        reader = readers[str(queue)].removeprefix(synthesized.stage.prefixed(""))
        assert f"the function {reader} " in alarm["AlarmDescription"]


def test_every_queue_keeps_its_messages_for_two_weeks(synthesized: SynthesizedStage) -> None:
    """The dead-letter queues as well: a message keeps its age when it is moved."""
    kept_for = {queue.get("MessageRetentionPeriod") for queue in synthesized.all("AWS::SQS::Queue")}
    assert kept_for == {FOURTEEN_DAYS}


@pytest.mark.parametrize(
    "name", ["dispatch-queue", "event-queue", "job-queue", *DEAD_LETTER_QUEUES]
)
def test_a_batch_stays_hidden_for_six_runs_of_its_function(
    synthesized: SynthesizedStage, name: str
) -> None:
    queue = synthesized.one("AWS::SQS::Queue", QueueName=synthesized.stage.data_name(name))
    longest = max(function["Timeout"] for function in synthesized.all("AWS::Lambda::Function"))
    assert queue["VisibilityTimeout"] >= 6 * longest


def test_every_queue_is_encrypted(synthesized: SynthesizedStage) -> None:
    assert all(queue["SqsManagedSseEnabled"] for queue in synthesized.all("AWS::SQS::Queue"))


def test_every_queue_refuses_what_does_not_come_over_tls(synthesized: SynthesizedStage) -> None:
    guarded = {
        json.dumps(policy["Queues"])
        for policy in synthesized.all("AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert len(guarded) == len(synthesized.all("AWS::SQS::Queue"))


@pytest.mark.parametrize("name", KEPT_BY_ALERT)
def test_undeliverable_events_of_every_kind_raise_an_alarm(
    synthesized: SynthesizedStage, name: str
) -> None:
    alarm = alarms_on(synthesized, name)["Undeliverable"]
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 1)


@pytest.mark.parametrize("metric", ["Received", "Quarantined"])
def test_dead_letters_of_tasks_raise_an_alarm(synthesized: SynthesizedStage, metric: str) -> None:
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("process-dead-letters")
    )
    variables = function["Environment"]["Variables"]
    (alarm,) = (
        alarm
        for alarm in watching(synthesized, "AWS::CloudWatch::Alarm")
        if dimensions_of(alarm) == counted_by(function) and alarm["MetricName"] == metric
    )
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)


def test_what_a_worker_puts_aside_raises_an_alarm(synthesized: SynthesizedStage) -> None:
    container = synthesized.default_container()
    pattern = '{ $.message = "message parked" }'
    counted = synthesized.one("AWS::Logs::MetricFilter", FilterPattern=pattern)
    assert counted["LogGroupName"] == container["LogConfiguration"]["Options"]["awslogs-group"]
    (said,) = counted["MetricTransformations"]
    alarm = synthesized.one("AWS::CloudWatch::Alarm", MetricName=said["MetricName"])
    assert (alarm["Namespace"], said["MetricValue"]) == (said["MetricNamespace"], "1")
    assert said["Dimensions"] == [{"Key": "stage", "Value": "$.stage"}]
    assert dimensions_of(alarm) == {"stage": synthesized.stage.name}
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Sum", 60, 1)


@pytest.mark.parametrize("name", DEAD_LETTER_QUEUES)
@pytest.mark.parametrize("depth", [VISIBLE, HIDDEN])
def test_dead_letters_that_are_not_drained_for_five_minutes_raise_an_alarm(
    synthesized: SynthesizedStage, name: str, depth: str
) -> None:
    alarm = alarms_on(synthesized, name)[depth]
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 5)
    assert alarm["Statistic"] == "Maximum"


@pytest.mark.parametrize("name", KEPT_BY_ALERT)
def test_arrivals_are_counted_under_the_name_that_the_alarm_watches(
    synthesized: SynthesizedStage, name: str
) -> None:
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("alert")
    )
    variables = function["Environment"]["Variables"]
    alarm = alarms_on(synthesized, name)["Undeliverable"]
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert alarm["Statistic"] == "Sum"
    dimensions = dimensions_of(alarm)
    assert synthesized.imported(dimensions.pop("queue"))[
        "QueueName"
    ] == synthesized.stage.data_name(name)
    assert dimensions == counted_by(function)


def test_every_dead_letter_queue_is_read_by_the_function_that_understands_it(
    synthesized: SynthesizedStage,
) -> None:
    resources = synthesized.template("health-check")["Resources"]
    readers = {
        synthesized.imported(mapping["EventSourceArn"])["QueueName"]: resources[
            mapping["FunctionName"]["Ref"]
        ]["Properties"]["FunctionName"]
        for mapping in watching(synthesized, "AWS::Lambda::EventSourceMapping")
    }
    by_alert = {
        synthesized.stage.data_name(name): synthesized.stage.prefixed("alert")
        for name in KEPT_BY_ALERT
    }
    processor = synthesized.stage.prefixed("process-dead-letters")
    names = ("task-queue-dlq", *further_queues(synthesized.stage, suffix="-dlq"))
    assert readers == by_alert | {
        **{synthesized.stage.data_name(name): processor for name in names},
        synthesized.stage.data_name("alerts-queue"): synthesized.stage.prefixed("notify"),
    }
