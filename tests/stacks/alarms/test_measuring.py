"""The harness is measured everywhere, and what is measured is watched."""

import json
import re
from typing import Any

import pytest

from stacks.paths import REPOSITORY
from switchyard.contracts.metrics import UNITS
from switchyard.contracts.worker_log import (
    BUG,
    FILES_LEFT,
    PROCESSES_LEFT,
    USERS_PROCESSES_LEFT,
)
from tests.stacks.synthesized import Properties, SynthesizedStage
from tests.stacks.test_permissions import listed, statements_of

TEN = UNITS.keys() - {"cost_usd", "tokens"}


def alarm_named(synthesized: SynthesizedStage, name: str) -> Properties:
    return synthesized.one("AWS::CloudWatch::Alarm", AlarmName=synthesized.stage.prefixed(name))


def measured_by(synthesized: SynthesizedStage) -> dict[str, str]:
    """The dimensions under which the function publishes."""
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("measure")
    )
    variables = function["Environment"]["Variables"]
    return {"service": variables["POWERTOOLS_SERVICE_NAME"], "stage": variables["STAGE"]}


def watched(synthesized: SynthesizedStage, metric: Any) -> str:
    """The name of a metric, which is one of those that are published."""
    assert metric["Namespace"] == "Switchyard"
    dimensions = {one["Name"]: one["Value"] for one in metric["Dimensions"]}
    assert dimensions == measured_by(synthesized)
    assert metric["MetricName"] in TEN
    return str(metric["MetricName"])


@pytest.mark.parametrize(
    ("name", "metric", "above", "minutes"),
    [
        ("oldest-item-too-old", "age_of_oldest_item", 1800, 5),
        ("dead-letters-stay", "dlq_depth", 0, 5),
    ],
)
def test_one_number_that_stays_too_high_raises_an_alarm(
    synthesized: SynthesizedStage, name: str, metric: str, above: int, minutes: int
) -> None:
    alarm = alarm_named(synthesized, name)

    assert watched(synthesized, alarm) == metric
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", above)
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, minutes)
    assert "`switchyard " in alarm["AlarmDescription"]


def test_a_stage_that_is_not_measured_raises_an_alarm(synthesized: SynthesizedStage) -> None:
    alarm = alarm_named(synthesized, "stage-not-measured")

    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Errors")
    (function,) = (d["Value"] for d in alarm["Dimensions"] if d["Name"] == "FunctionName")
    assert synthesized.imported(function)["FunctionName"] == synthesized.stage.prefixed("measure")


@pytest.mark.parametrize(
    ("name", "expression", "metrics", "above", "evaluated"),
    [
        (
            "tasks-wait-for-nobody",
            "IF(waiting > 0 AND workers < 1, 1, 0)",
            {"waiting": "queue_depth", "workers": "consumer_count"},
            0,
            (60, 10),
        ),
        (
            "most-tasks-fail",
            "IF((completed + failed + late) * 900 >= 5,"
            " 100 * (failed + late) / (completed + failed + late), 0)",
            {"completed": "completion_rate", "failed": "failure_rate", "late": "timeout_rate"},
            50,
            (900, 1),
        ),
    ],
)
def test_numbers_are_compared_where_the_stage_allows_it(
    synthesized: SynthesizedStage,
    name: str,
    expression: str,
    metrics: dict[str, str],
    above: int,
    evaluated: tuple[int, int],
) -> None:
    stage = synthesized.stage
    wanted = stage.scales_workers if name == "tasks-wait-for-nobody" else stage.watches_workers
    if not wanted:
        with pytest.raises(ValueError, match="not enough values"):
            alarm_named(synthesized, name)
        return
    alarm = alarm_named(synthesized, name)
    compared, *found = alarm["Metrics"]

    assert compared["Expression"] == expression
    stats = {one["Id"]: one["MetricStat"] for one in found}
    assert {by: watched(synthesized, stat["Metric"]) for by, stat in stats.items()} == metrics
    assert {stat["Period"] for stat in stats.values()} == {evaluated[0]}
    assert alarm["EvaluationPeriods"] == evaluated[1]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", above)
    assert "`switchyard " in alarm["AlarmDescription"]


def test_the_dashboard_shows_all_ten_numbers_and_what_is_spent(
    synthesized: SynthesizedStage,
) -> None:
    name = synthesized.stage.prefixed("overview")
    dashboards = synthesized.all("AWS::CloudWatch::Dashboard")
    ours = [one for one in dashboards if one["DashboardName"] == name]
    assert bool(ours) == synthesized.stage.watches_workers
    for dashboard in ours:
        parts = dashboard["DashboardBody"]["Fn::Join"][1]
        body = json.loads("".join(part if isinstance(part, str) else "region" for part in parts))
        shown = [m for widget in body["widgets"] for m in widget["properties"]["metrics"]]
        numbers = {
            metric[1]: dict(zip(metric[2:-1:2], metric[3:-1:2], strict=True))
            for metric in shown
            if len(metric) > 1
        }
        assert numbers == dict.fromkeys(TEN, measured_by(synthesized))
        searched = [metric[0]["expression"] for metric in shown if len(metric) == 1]
        assert searched == [
            "SEARCH('{Switchyard,definition,service,stage}"
            f' MetricName="{spent}" stage="{synthesized.stage.name}"\', \'Sum\', 300)'
            for spent in ("cost_usd", "tokens")
        ]


def test_every_queue_that_scaling_looks_at_is_asked_for_its_depth_each_minute(
    synthesized: SynthesizedStage,
) -> None:
    """SQS stops reporting metrics of a queue that nothing has touched for six hours.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    scaled_on = {
        synthesized.imported(dimension["Value"])["QueueName"]
        for alarm in synthesized.all("AWS::CloudWatch::Alarm")
        if "AlarmActions" in alarm
        for metric in alarm.get("Metrics", [{"MetricStat": {"Metric": alarm}}])
        for dimension in metric.get("MetricStat", {}).get("Metric", {}).get("Dimensions", ())
        if dimension["Name"] == "QueueName"
    }
    assert bool(scaled_on) == synthesized.stage.scales_workers
    measure = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("measure")
    )
    pools = measure["Environment"]["Variables"]["POOLS"]["Fn::Join"][1]
    asked = [synthesized.imported(part) for part in pools if not isinstance(part, str)]
    assert scaled_on <= {queue["QueueName"] for queue in asked}


def test_no_alarm_looks_at_what_another_stage_counts(synthesized: SynthesizedStage) -> None:
    """Two stages may share an account, and people who are paged for one only."""
    single = synthesized.all("AWS::CloudWatch::Alarm")
    compared = [
        part["MetricStat"]["Metric"]
        for alarm in single
        for part in alarm.get("Metrics", ())
        if "MetricStat" in part
    ]
    ours = [m for m in (*single, *compared) if m.get("Namespace") == "Switchyard"]
    assert len(ours) > 5
    for metric in ours:
        assert {"Name": "stage", "Value": synthesized.stage.name} in metric["Dimensions"]


def test_what_is_counted_from_logs_names_its_stage(synthesized: SynthesizedStage) -> None:
    filters = synthesized.all("AWS::Logs::MetricFilter")
    assert filters
    for counted in filters:
        for said in counted["MetricTransformations"]:
            assert {"Key": "stage", "Value": "$.stage"} in said["Dimensions"]


@pytest.mark.parametrize(
    ("message", "metric"),
    [
        (BUG, "BugsInWorker"),
        (PROCESSES_LEFT, "ProcessesLeftByTasks"),
        (USERS_PROCESSES_LEFT, "ProcessesLeftByTasks"),
        (FILES_LEFT, "FilesLeftByTasks"),
    ],
)
def test_what_a_worker_could_not_end_or_remove_is_counted_from_its_log(
    synthesized: SynthesizedStage, message: str, metric: str
) -> None:
    container = synthesized.default_container()
    pattern = f'{{ $.message = "{message}" }}'
    counted = synthesized.one("AWS::Logs::MetricFilter", FilterPattern=pattern)
    assert counted["LogGroupName"] == container["LogConfiguration"]["Options"]["awslogs-group"]
    (said,) = counted["MetricTransformations"]
    assert (said["MetricName"], said["MetricNamespace"], said["MetricValue"]) == (
        metric,
        "Switchyard",
        "1",
    )


def test_every_dead_letter_queue_is_counted(synthesized: SynthesizedStage) -> None:
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("measure")
    )
    emitted = function["Environment"]["Variables"]["DEAD_LETTER_QUEUE_URLS"]
    counted = {
        synthesized.imported(part)["QueueName"] for part in emitted["Fn::Join"][1] if part != ","
    }
    queues = {queue["QueueName"] for queue in synthesized.all("AWS::SQS::Queue")}
    assert counted == {name for name in queues if name.endswith("-dlq")}


@pytest.mark.parametrize(
    ("holder", "action", "partitions"),
    [
        ("save-event", "dynamodb:UpdateItem", ["COUNTS#*"]),
        ("measure", "dynamodb:UpdateItem", ["COUNTS#*"]),
        ("measure", "dynamodb:GetItem", ["COUNTS#*"]),
    ],
)
def test_who_counts_writes_counters_and_nothing_else(
    synthesized: SynthesizedStage, holder: str, action: str, partitions: list[str]
) -> None:
    (granted,) = (
        statement
        for statement in statements_of(synthesized, holder)
        if action in listed(statement["Action"])
    )
    assert granted["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": partitions}}


def test_every_alarm_of_the_stage_is_explained(synthesized: SynthesizedStage) -> None:
    page = (REPOSITORY / "docs" / "metrics.md").read_text(encoding="utf-8")
    emitted = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    names = [alarm.get("AlarmName") for alarm in synthesized.all("AWS::CloudWatch::Alarm")]
    there = [name for name in emitted if synthesized.stage.prefixed(name) in names]
    count = 4 + synthesized.stage.scales_workers + synthesized.stage.watches_workers
    assert there == emitted[:count]
    assert len(emitted) == 6
