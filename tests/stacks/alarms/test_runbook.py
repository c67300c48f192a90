"""Every alarm has an entry in the runbook, and every entry has an alarm."""

import re

import pytest

from stacks.paths import REPOSITORY
from stacks.stage import LOCAL
from tests.stacks.synthesized import Properties, SynthesizedStage

ENTRIES = dict(
    entry.split("\n", 1)
    for entry in (REPOSITORY / "docs" / "runbook.md").read_text().split("\n## ")[1:]
)
SCALING = "scaling"


def alarms_of(entry: str) -> set[str]:
    """The alarms that an entry names in its first paragraph."""
    paragraph = ENTRIES[entry].strip().split("\n\n")[0]
    assert paragraph.startswith("Alarms: ")
    return set(re.findall(r"`([a-z-]+)`", paragraph))


def name_without_stage(synthesized: SynthesizedStage, alarm: Properties) -> str:
    name: str = alarm["AlarmName"]
    paging = synthesized.stage.prefixed("")
    if name.startswith(paging):
        return _without_pool(synthesized, name.removeprefix(paging))
    return name.removeprefix("switchyard-").removesuffix(f"-{synthesized.stage.name}")


def _without_pool(synthesized: SynthesizedStage, name: str) -> str:
    """Return an alarm's name without the pool that it is about: all pools share its entry."""
    for pool in synthesized.stage.pools:
        name = name.replace(f"-{pool.name}", "")
    return name


def watching(synthesized: SynthesizedStage) -> list[Properties]:
    """All alarms but those that scale the workers."""
    return [a for a in synthesized.all("AWS::CloudWatch::Alarm") if "AlarmActions" not in a]


def test_every_alarm_leads_to_the_entry_that_explains_it(synthesized: SynthesizedStage) -> None:
    for alarm in watching(synthesized):
        found = re.search(r"docs/runbook\.md#([a-z-]+)", alarm["AlarmDescription"])
        assert found, alarm["AlarmName"]
        assert name_without_stage(synthesized, alarm) in alarms_of(found[1])


def test_the_runbook_explains_no_alarm_that_does_not_exist(synthesized: SynthesizedStage) -> None:
    explained = {name for entry in ENTRIES for name in alarms_of(entry)}
    missing = explained - {
        name_without_stage(synthesized, alarm) for alarm in watching(synthesized)
    }
    if synthesized.stage.watches_workers and synthesized.stage.checks_health:
        assert not missing
    else:
        assert missing <= {"tasks-wait-for-nobody", "most-tasks-fail", "check-health-not-invoked"}


def test_alarms_that_scale_workers_share_an_entry(synthesized: SynthesizedStage) -> None:
    scaling = [a for a in synthesized.all("AWS::CloudWatch::Alarm") if "AlarmActions" in a]
    assert bool(scaling) == synthesized.stage.scales_workers
    assert all(a["AlarmDescription"].startswith("Scales the workers") for a in scaling)
    assert "Scales the workers" in ENTRIES[SCALING]


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_says_what_it_means_what_to_look_at_and_what_to_do(entry: str) -> None:
    text = ENTRIES[entry]
    assert "**Means** " in text
    assert "**Look at** " in text
    assert re.search(r"\*\*[Dd]o\*\* ", text)


def test_links_between_entries_lead_somewhere() -> None:
    linked = set(re.findall(r"\]\(#([a-z-]+)\)", "".join(ENTRIES.values())))
    assert linked
    assert linked <= ENTRIES.keys()


@pytest.mark.parametrize("name", ["sweep", "measure", "check-health"])
def test_a_function_that_its_schedule_does_not_invoke_raises_an_alarm(
    synthesized: SynthesizedStage, name: str
) -> None:
    if name == "check-health" and not synthesized.stage.checks_health:
        return
    alarm = synthesized.one(
        "AWS::CloudWatch::Alarm", AlarmName=synthesized.stage.prefixed(f"{name}-not-invoked")
    )
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Invocations")
    (function,) = (one["Value"] for one in alarm["Dimensions"])
    assert synthesized.imported(function)["FunctionName"] == synthesized.stage.prefixed(name)
    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("Sum", "breaching")
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    every = 300 if name == "check-health" else 60
    assert alarm["Period"] * alarm["EvaluationPeriods"] == 5 * every


def test_an_api_that_fails_raises_an_alarm(synthesized: SynthesizedStage) -> None:
    alarm = synthesized.one(
        "AWS::CloudWatch::Alarm", AlarmName=synthesized.stage.prefixed("api-fails")
    )
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/ApiGateway", "5xx")
    dimensions = {one["Name"]: one["Value"] for one in alarm["Dimensions"]}
    assert synthesized.imported(dimensions["ApiId"])["Name"] == synthesized.stage.prefixed("api")
    assert (alarm["Statistic"], alarm["Period"]) == ("Sum", 300)
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 5)


def test_each_function_that_is_throttled_raises_an_alarm(synthesized: SynthesizedStage) -> None:
    throttles = [a for a in watching(synthesized) if a.get("MetricName") == "Throttles"]
    watched = {
        synthesized.imported(one["Value"])["FunctionName"]
        for alarm in throttles
        for one in alarm["Dimensions"]
    }
    assert watched == {f["FunctionName"] for f in synthesized.all("AWS::Lambda::Function")}
    for alarm in throttles:
        assert (alarm["Statistic"], alarm["Period"]) == ("Sum", 300)
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)


@pytest.mark.parametrize("metric", ["ReadThrottleEvents", "WriteThrottleEvents"])
def test_each_table_that_is_throttled_raises_an_alarm(
    synthesized: SynthesizedStage, metric: str
) -> None:
    throttles = [a for a in watching(synthesized) if a.get("MetricName") == metric]
    watched = [
        synthesized.imported(one["Value"])["TableName"]
        for a in throttles
        for one in a["Dimensions"]
    ]
    assert sorted(watched) == sorted(
        t["TableName"] for t in synthesized.all("AWS::DynamoDB::Table")
    )
    for alarm in throttles:
        assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 5)


@pytest.mark.parametrize(("table", "operation"), [("state", "UpdateItem"), ("events", "PutItem")])
def test_an_index_that_holds_back_its_table_raises_an_alarm(
    synthesized: SynthesizedStage, table: str, operation: str
) -> None:
    """A table's own throttle events do not count those of its indexes."""
    (alarm,) = (
        a
        for a in watching(synthesized)
        if a.get("MetricName") == "ThrottledRequests"
        and {"Name": "Operation", "Value": operation} in a["Dimensions"]
    )
    (named,) = (d["Value"] for d in alarm["Dimensions"] if d["Name"] == "TableName")
    assert synthesized.imported(named)["TableName"] == synthesized.stage.data_name(table)
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 5)


def test_the_local_stage_has_no_alarm_that_its_cloud_refuses(synthesized: SynthesizedStage) -> None:
    if synthesized.stage is LOCAL:
        assert not [a for a in synthesized.all("AWS::CloudWatch::Alarm") if "Metrics" in a]
