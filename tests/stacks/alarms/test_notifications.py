"""What starts the reporting of incidents, and what its role may do."""

import json
from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedStage
from tests.stacks.test_bus import EVENTBRIDGES_DEFAULT
from tests.stacks.test_permissions import listed, statements_of

UNHEARD = "switchyard-alerts-unheard"
TOLD_AS_LETTERS = [
    "switchyard-task-not-dispatched",
    "switchyard-job-not-advanced",
    "switchyard-event-not-saved",
    "switchyard-signal-not-matched",
    "switchyard-event-not-delivered",
    "switchyard-job-not-triggered",
    "switchyard-dead-letter-quarantined",
    "switchyard-message-quarantined",
    "switchyard-trigger-refused",
]


def rules(synthesized: SynthesizedStage) -> list[Any]:
    """Return the rules that invoke the functions that report incidents."""
    queue = synthesized.stage.data_name("alerts-queue")
    return [
        rule
        for rule in synthesized.all("AWS::Events::Rule")
        if "EventPattern" in rule and queue in str(targets_of(synthesized, rule))
    ]


def targets_of(synthesized: SynthesizedStage, rule: Any) -> list[Any]:
    return [named(synthesized, target["Arn"]) for target in rule["Targets"]]


def named(synthesized: SynthesizedStage, arn: Any) -> Any:
    resources = synthesized.template("health-check")["Resources"]
    found = resources.get((arn.get("Fn::GetAtt") or [""])[0], {}) if isinstance(arn, dict) else {}
    return found.get("Properties", {}).get("QueueName")


def pattern_of(synthesized: SynthesizedStage, detail_type: str, *, says: str = "") -> Any:
    (pattern,) = (
        rule["EventPattern"]
        for rule in rules(synthesized)
        if detail_type in rule["EventPattern"]["detail-type"] and says in str(rule)
    )
    return pattern


def test_failures_and_ends_of_jobs_wake_the_watchers_from_our_bus(
    synthesized: SynthesizedStage,
) -> None:
    pattern = pattern_of(synthesized, "log-event", says="Job Failed")
    assert set(pattern["detail"]["eventType"]) == {
        "Job Failure Detected",
        "Job Failed",
        "Job Completed",
        "Job Cancelled",
        "Task Redriven",
    }
    (rule,) = (r for r in rules(synthesized) if r["EventPattern"] == pattern)
    assert (
        synthesized.imported(rule["EventBusName"])["Name"] == f"switchyard-{synthesized.stage.name}"
    )


def test_failures_of_tasks_without_a_job_wake_the_watchers_and_those_of_jobs_do_not(
    synthesized: SynthesizedStage,
) -> None:
    pattern = pattern_of(synthesized, "log-event", says="Task Timeout")
    assert pattern["detail"] == {
        "eventType": ["Task Failed", "Task Timeout"],
        "properties": {"jobId": [{"exists": False}]},
    }


def test_approvals_wake_the_watchers_when_they_begin_to_wait_and_when_they_end(
    synthesized: SynthesizedStage,
) -> None:
    pattern = pattern_of(synthesized, "log-event", says="Task Held")
    assert pattern["detail"] == {
        "eventType": ["Task Held", "Task Completed", "Task Failed", "Task Cancelled"],
        "properties": {"kind": ["approval"]},
    }


def test_letters_of_our_bucket_wake_the_watchers_when_they_come_and_go(
    synthesized: SynthesizedStage,
) -> None:
    pattern = pattern_of(synthesized, "Object Created")
    assert set(pattern["detail-type"]) == {"Object Created", "Object Deleted"}
    (bucket,) = pattern["detail"]["bucket"]["name"]
    assert synthesized.imported(bucket) == synthesized.one("AWS::S3::Bucket")
    prefixes = [key["prefix"] for key in pattern["detail"]["object"]["key"]]
    assert prefixes == ["parked/", "quarantine/", "undeliverable/"]


def test_alarms_of_this_stage_wake_the_watchers(synthesized: SynthesizedStage) -> None:
    pattern = pattern_of(synthesized, "CloudWatch Alarm State Change")
    assert pattern["source"] == ["aws.cloudwatch"]
    assert pattern["detail"]["alarmName"] == [{"prefix": f"switchyard-{synthesized.stage.name}-"}]


def test_every_alarm_is_named_for_its_stage_and_says_what_it_means(
    synthesized: SynthesizedStage,
) -> None:
    for alarm in synthesized.all("AWS::CloudWatch::Alarm"):
        if "Metrics" in alarm and "AlarmName" not in alarm:
            continue  # those that scale the workers tell nobody anything
        assert alarm["AlarmDescription"]
        if alarm["AlarmName"] not in {
            f"{n}-{synthesized.stage.name}" for n in (UNHEARD, *TOLD_AS_LETTERS)
        }:
            assert alarm["AlarmName"].startswith(f"switchyard-{synthesized.stage.name}-")


@pytest.mark.parametrize("name", TOLD_AS_LETTERS)
def test_alarms_of_dead_letters_say_that_these_are_reported_already(
    synthesized: SynthesizedStage, name: str
) -> None:
    alarm = synthesized.one("AWS::CloudWatch::Alarm", AlarmName=f"{name}-{synthesized.stage.name}")
    assert "reported by alerts" in alarm["AlarmDescription"]


def test_a_stage_that_is_not_swept_raises_an_alarm(synthesized: SynthesizedStage) -> None:
    name = synthesized.stage.prefixed("stage-not-swept")
    alarm = synthesized.one("AWS::CloudWatch::Alarm", AlarmName=name)
    assert (alarm["MetricName"], alarm["EvaluationPeriods"]) == ("Errors", 5)
    (function,) = (d["Value"] for d in alarm["Dimensions"] if d["Name"] == "FunctionName")
    assert synthesized.imported(function)["FunctionName"] == synthesized.stage.prefixed("sweep")


def test_no_more_than_two_post_at_once_because_a_channel_takes_one_message_a_second(
    synthesized: SynthesizedStage,
) -> None:
    (mapping,) = (
        mapping
        for mapping in synthesized.all("AWS::Lambda::EventSourceMapping")
        if named(synthesized, mapping["EventSourceArn"])
        == synthesized.stage.data_name("alerts-queue")
    )
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_an_incident_that_cannot_be_posted_raises_an_alarm_that_is_not_reported(
    synthesized: SynthesizedStage,
) -> None:
    name = f"{UNHEARD}-{synthesized.stage.name}"
    alarm = synthesized.one("AWS::CloudWatch::Alarm", AlarmName=name)
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert not name.startswith(f"switchyard-{synthesized.stage.name}-")


def test_what_a_rule_cannot_deliver_is_kept_where_no_watcher_is_woken_by_it(
    synthesized: SynthesizedStage,
) -> None:
    found = rules(synthesized)
    assert len(found) == 5
    for rule in found:
        (target,) = rule["Targets"]
        stored = named(synthesized, target["DeadLetterConfig"]["Arn"])
        assert stored == synthesized.stage.data_name("alerts-queue-dlq")
        assert target["RetryPolicy"] == EVENTBRIDGES_DEFAULT


@pytest.mark.parametrize("holder", ["notify", "check-health"])
def test_who_tells_writes_nothing_but_what_was_told(
    synthesized: SynthesizedStage, holder: str
) -> None:
    (written,) = (
        statement["Condition"]
        for statement in statements_of(synthesized, holder)
        if "dynamodb:UpdateItem" in listed(statement["Action"])
    )
    where = {"dynamodb:LeadingKeys": ["ALERTS"]}
    assert written == {"ForAllValues:StringEquals": where}


@pytest.mark.parametrize(
    ("holder", "secrets"), [("notify", {"slack", "webhooks"}), ("check-health", {"slack"})]
)
def test_who_tells_reads_its_own_secrets_alone(
    synthesized: SynthesizedStage, holder: str, secrets: set[str]
) -> None:
    resources = [
        json.dumps(resource)
        for statement in statements_of(synthesized, holder)
        if "secretsmanager:GetSecretValue" in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    assert len(resources) == len(secrets)
    for name in secrets:
        assert any(
            f"secret:switchyard/{synthesized.stage.name}/{name}-??????" in r for r in resources
        )


def test_letters_and_what_approvals_decide_on_are_read_and_listed_below_their_prefixes(
    synthesized: SynthesizedStage,
) -> None:
    read = [
        str(statement["Resource"])
        for statement in statements_of(synthesized, "notify")
        if statement["Action"] == "s3:GetObject"
    ]
    assert "parked/*" in str(read)
    assert "quarantine/*" in str(read)
    assert "undeliverable/*" in str(read)
    assert "task/*" in str(read)
    listed_below = [
        statement["Condition"]["StringLike"]["s3:prefix"]
        for statement in statements_of(synthesized, "notify")
        if statement["Action"] == "s3:ListBucket"
    ]
    assert ["parked/*", "quarantine/*", "undeliverable/*"] in listed_below
    assert all("task/" in str(prefix) for prefix in listed_below if "parked/*" not in prefix)


def test_incidents_are_posted_in_the_channel_of_the_stage(synthesized: SynthesizedStage) -> None:
    channels = {"local": "#switchyard-local", "dev": "#switchyard-dev", "prod": "#switchyard"}
    for name in ("notify", "check-health"):
        function = synthesized.one(
            "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed(name)
        )
        variables = function["Environment"]["Variables"]
        assert variables["SLACK_CHANNEL"] == channels[synthesized.stage.name]
        assert variables["SLACK_SECRET"] == f"switchyard/{synthesized.stage.name}/slack"
