"""The deployed service has as many workers as its stage's policy says."""

from collections.abc import Iterator

import pytest

from stacks.constructs.worker_scaling import capacity_steps
from stacks.stage import DEV, LOCAL, PROD
from switchyard.domain.measuring.scaling import ScalingPolicy
from tests.stacks.synthesized import Properties, SynthesizedYard

FIRES = {
    "GreaterThanOrEqualToThreshold": lambda backlog, threshold: backlog >= threshold,
    "LessThanOrEqualToThreshold": lambda backlog, threshold: backlog <= threshold,
}


def alarms_of(yard: SynthesizedYard) -> list[Properties]:
    resources = yard.template("consumer")["Resources"].values()
    alarms = [r["Properties"] for r in resources if r["Type"] == "AWS::CloudWatch::Alarm"]
    return [alarm for alarm in alarms if "Metrics" in alarm and "AlarmName" not in alarm]


def policies_of(yard: SynthesizedYard) -> Iterator[tuple[Properties, Properties]]:
    """Each alarm with the steps that it leads to."""
    for alarm in alarms_of(yard):
        (action,) = alarm["AlarmActions"]
        yield alarm, yard.imported(action)["StepScalingPolicyConfiguration"]


def capacities(yard: SynthesizedYard, backlog: int) -> list[int]:
    """What every step asks for that is taken with this backlog."""
    return [
        step["ScalingAdjustment"]
        for alarm, steps in policies_of(yard)
        if FIRES[alarm["ComparisonOperator"]](backlog, alarm["Threshold"])
        for step in steps["StepAdjustments"]
        if step.get("MetricIntervalLowerBound", -1) <= backlog - alarm["Threshold"]
        and backlog - alarm["Threshold"] < step.get("MetricIntervalUpperBound", backlog)
    ]


def test_every_backlog_leads_to_just_the_number_that_the_policy_says(yard: SynthesizedYard) -> None:
    if yard.stage.scales_workers:
        for backlog in [*range(130), 10_000]:
            assert capacities(yard, backlog) == [yard.stage.scaling.capacity_for(backlog)]


def test_workers_go_more_slowly_than_they_come(yard: SynthesizedYard) -> None:
    cooldowns = {
        alarm["ComparisonOperator"]: steps["Cooldown"] for alarm, steps in policies_of(yard)
    }
    out, back = FIRES
    assert cooldowns == ({out: 30, back: 60} if yard.stage.scales_workers else {})


def test_workers_come_and_go_between_none_and_the_stages_limit(yard: SynthesizedYard) -> None:
    limits = [
        (target["MinCapacity"], target["MaxCapacity"])
        for target in yard.all("AWS::ApplicationAutoScaling::ScalableTarget")
    ]
    assert limits == ([(0, yard.stage.scaling.max_workers)] if yard.stage.scales_workers else [])


def test_each_stage_has_a_policy() -> None:
    usual = ScalingPolicy(max_workers=5, target_per_worker=20)
    assert LOCAL.scaling == PROD.scaling == usual
    assert DEV.scaling == ScalingPolicy(max_workers=2, target_per_worker=20)


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        (ScalingPolicy(max_workers=1), [(1, 0, None)]),
        (ScalingPolicy(max_workers=2, target_per_worker=7), [(1, 0, 7), (2, 7, None)]),
        (ScalingPolicy(min_workers=3, max_workers=4), [(3, 0, 60), (4, 60, None)]),
        (ScalingPolicy(min_workers=2, max_workers=2), [(2, 0, None)]),
    ],
)
def test_the_first_step_begins_with_the_first_message_and_the_last_has_no_end(
    policy: ScalingPolicy, steps: list[tuple[int, float, float | None]]
) -> None:
    assert list(capacity_steps(policy)) == steps


def test_tasks_in_flight_count_as_backlog(yard: SynthesizedYard) -> None:
    scaling = alarms_of(yard)
    assert bool(scaling) == yard.stage.scales_workers
    for alarm in scaling:
        assert alarm["Metrics"][0]["Expression"] == "FILL(waiting, 0) + FILL(running, 0)"
        measured = {m["MetricStat"]["Metric"]["MetricName"] for m in alarm["Metrics"][1:]}
        assert measured == {
            "ApproximateNumberOfMessagesVisible",
            "ApproximateNumberOfMessagesNotVisible",
        }
