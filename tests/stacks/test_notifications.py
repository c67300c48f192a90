"""What wakes the watchers, and that they can tell, and do nothing else."""

import json
from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedYard
from tests.stacks.test_bus import EVENTBRIDGES_DEFAULT
from tests.stacks.test_permissions import listed, statements_of

UNHEARD = "switchyard-alerts-unheard"
TOLD_AS_LETTERS = [
    "switchyard-task-not-dispatched",
    "switchyard-job-not-advanced",
    "switchyard-event-not-saved",
    "switchyard-event-not-delivered",
    "switchyard-job-not-triggered",
    "switchyard-dead-letter-quarantined",
    "switchyard-message-quarantined",
    "switchyard-trigger-refused",
]


def rules(yard: SynthesizedYard) -> list[Any]:
    """Those that wake the watchers."""
    queue = yard.stage.data_name("alerts-queue")
    return [
        rule
        for rule in yard.all("AWS::Events::Rule")
        if "EventPattern" in rule and queue in str(targets_of(yard, rule))
    ]


def targets_of(yard: SynthesizedYard, rule: Any) -> list[Any]:
    return [named(yard, target["Arn"]) for target in rule["Targets"]]


def named(yard: SynthesizedYard, arn: Any) -> Any:
    resources = yard.template("health-check")["Resources"]
    found = resources.get((arn.get("Fn::GetAtt") or [""])[0], {}) if isinstance(arn, dict) else {}
    return found.get("Properties", {}).get("QueueName")


def pattern_of(yard: SynthesizedYard, detail_type: str, *, says: str = "") -> Any:
    (pattern,) = (
        rule["EventPattern"]
        for rule in rules(yard)
        if detail_type in rule["EventPattern"]["detail-type"] and says in str(rule)
    )
    return pattern


def test_failures_and_ends_of_jobs_wake_the_watchers_from_our_bus(yard: SynthesizedYard) -> None:
    pattern = pattern_of(yard, "log-event", says="Job Failed")
    assert set(pattern["detail"]["eventType"]) == {
        "Job Failure Detected",
        "Job Failed",
        "Job Completed",
        "Job Cancelled",
        "Task Redriven",
    }
    (rule,) = (r for r in rules(yard) if r["EventPattern"] == pattern)
    assert yard.imported(rule["EventBusName"])["Name"] == f"switchyard-{yard.stage.name}"


def test_failures_of_tasks_without_a_job_wake_the_watchers_and_those_of_jobs_do_not(
    yard: SynthesizedYard,
) -> None:
    pattern = pattern_of(yard, "log-event", says="Task Failed")
    assert pattern["detail"] == {
        "eventType": ["Task Failed", "Task Timeout"],
        "properties": {"jobId": [{"exists": False}]},
    }


def test_letters_of_our_bucket_wake_the_watchers_when_they_come_and_go(
    yard: SynthesizedYard,
) -> None:
    pattern = pattern_of(yard, "Object Created")
    assert set(pattern["detail-type"]) == {"Object Created", "Object Deleted"}
    (bucket,) = pattern["detail"]["bucket"]["name"]
    assert yard.imported(bucket) == yard.one("AWS::S3::Bucket")
    prefixes = [key["prefix"] for key in pattern["detail"]["object"]["key"]]
    assert prefixes == ["quarantine/", "undeliverable/"]


def test_alarms_of_this_stage_wake_the_watchers(yard: SynthesizedYard) -> None:
    pattern = pattern_of(yard, "CloudWatch Alarm State Change")
    assert pattern["source"] == ["aws.cloudwatch"]
    assert pattern["detail"]["alarmName"] == [{"prefix": f"switchyard-{yard.stage.name}-"}]


def test_every_alarm_is_named_for_its_stage_and_says_what_it_means(yard: SynthesizedYard) -> None:
    for alarm in yard.all("AWS::CloudWatch::Alarm"):
        if "Metrics" in alarm and "AlarmName" not in alarm:
            continue  # those that scale the workers tell nobody anything
        assert alarm["AlarmDescription"]
        if alarm["AlarmName"] not in {
            f"{n}-{yard.stage.name}" for n in (UNHEARD, *TOLD_AS_LETTERS)
        }:
            assert alarm["AlarmName"].startswith(f"switchyard-{yard.stage.name}-")


@pytest.mark.parametrize("name", TOLD_AS_LETTERS)
def test_what_is_told_as_letters_is_not_told_as_an_alarm_as_well(
    yard: SynthesizedYard, name: str
) -> None:
    alarm = yard.one("AWS::CloudWatch::Alarm", AlarmName=f"{name}-{yard.stage.name}")
    assert "told by itself" in alarm["AlarmDescription"]


def test_a_yard_that_is_not_swept_raises_an_alarm(yard: SynthesizedYard) -> None:
    name = yard.stage.prefixed("yard-not-swept")
    alarm = yard.one("AWS::CloudWatch::Alarm", AlarmName=name)
    assert (alarm["MetricName"], alarm["EvaluationPeriods"]) == ("Errors", 5)
    (function,) = (d["Value"] for d in alarm["Dimensions"] if d["Name"] == "FunctionName")
    assert yard.imported(function)["FunctionName"] == yard.stage.prefixed("sweep")


def test_no_more_than_two_tell_at_once_because_a_channel_takes_one_message_a_second(
    yard: SynthesizedYard,
) -> None:
    (mapping,) = (
        mapping
        for mapping in yard.all("AWS::Lambda::EventSourceMapping")
        if named(yard, mapping["EventSourceArn"]) == yard.stage.data_name("alerts-queue")
    )
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_what_cannot_be_told_raises_an_alarm_that_wakes_no_watcher(yard: SynthesizedYard) -> None:
    name = f"{UNHEARD}-{yard.stage.name}"
    alarm = yard.one("AWS::CloudWatch::Alarm", AlarmName=name)
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert not name.startswith(f"switchyard-{yard.stage.name}-")


def test_what_a_rule_cannot_deliver_is_kept_where_no_watcher_is_woken_by_it(
    yard: SynthesizedYard,
) -> None:
    found = rules(yard)
    assert len(found) == 4
    for rule in found:
        (target,) = rule["Targets"]
        kept = named(yard, target["DeadLetterConfig"]["Arn"])
        assert kept == yard.stage.data_name("alerts-queue-dlq")
        assert target["RetryPolicy"] == EVENTBRIDGES_DEFAULT


@pytest.mark.parametrize("holder", ["notify", "check-health"])
def test_who_tells_writes_nothing_but_what_was_told(yard: SynthesizedYard, holder: str) -> None:
    (written,) = (
        statement["Condition"]
        for statement in statements_of(yard, holder)
        if "dynamodb:UpdateItem" in listed(statement["Action"])
    )
    where = {"dynamodb:LeadingKeys": ["ALERTS"]}
    assert written == {"ForAllValues:StringEquals": where}


@pytest.mark.parametrize(
    ("holder", "secrets"), [("notify", {"slack", "webhooks"}), ("check-health", {"slack"})]
)
def test_who_tells_reads_its_own_secrets_alone(
    yard: SynthesizedYard, holder: str, secrets: set[str]
) -> None:
    resources = [
        json.dumps(resource)
        for statement in statements_of(yard, holder)
        if "secretsmanager:GetSecretValue" in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    assert len(resources) == len(secrets)
    for name in secrets:
        assert any(f"secret:switchyard/{yard.stage.name}/{name}-??????" in r for r in resources)


def test_letters_are_read_and_listed_below_their_two_prefixes(yard: SynthesizedYard) -> None:
    read = [
        str(statement["Resource"])
        for statement in statements_of(yard, "notify")
        if statement["Action"] == "s3:GetObject"
    ]
    assert "quarantine/*" in str(read)
    assert "undeliverable/*" in str(read)
    assert "task/*" not in str(read)
    (listing,) = (s for s in statements_of(yard, "notify") if s["Action"] == "s3:ListBucket")
    assert listing["Condition"] == {
        "StringLike": {"s3:prefix": ["quarantine/*", "undeliverable/*"]}
    }


def test_people_are_told_in_the_channel_of_the_stage(yard: SynthesizedYard) -> None:
    channels = {"local": "#switchyard-local", "dev": "#switchyard-dev", "prod": "#switchyard"}
    for name in ("notify", "check-health"):
        function = yard.one("AWS::Lambda::Function", FunctionName=yard.stage.prefixed(name))
        variables = function["Environment"]["Variables"]
        assert variables["SLACK_CHANNEL"] == channels[yard.stage.name]
        assert variables["SLACK_SECRET"] == f"switchyard/{yard.stage.name}/slack"
