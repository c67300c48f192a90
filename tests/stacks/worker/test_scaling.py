"""The deployed service and the local supervisor want the same number of workers."""

from typing import Any

import pytest

from stacks.constructs.worker_scaling import capacity_steps, periods
from stacks.stage import DEV, PROD, Stage
from switchyard.domain.measuring.scaling import ScalingPolicy, decide_workers
from tests.stacks.synthesized import Properties, SynthesizedStage
from tests.stacks.test_permissions import listed, statements_of
from tests.stacks.worker.simulated_scaling import Autoscaling, autoscaling_of, scaling_alarms
from tests.stacks.worker.simulated_service import IN_FLIGHT, WAITING

TABLE = [
    # waiting, in flight, workers of prod, workers of dev
    (0, 0, 0, 0),
    (1, 0, 1, 1),
    (0, 1, 1, 1),
    (0, 3, 1, 1),
    (0, 4, 2, 2),
    (17, 3, 1, 1),
    (18, 3, 2, 2),
    (20, 0, 1, 1),
    (21, 0, 2, 2),
    (40, 0, 2, 2),
    (41, 0, 3, 2),
    (0, 6, 2, 2),
    (0, 7, 3, 2),
    (5, 15, 5, 2),
    (0, 15, 5, 2),
    (0, 12, 4, 2),
    (60, 0, 3, 2),
    (80, 0, 4, 2),
    (81, 0, 5, 2),
    (100, 0, 5, 2),
    (985, 15, 5, 2),
    (100_000, 0, 5, 2),
]


def expected(stage: Stage, row: tuple[int, int, int, int]) -> int:
    return {PROD: row[2], DEV: row[3]}[stage]


def settled(autoscaling: Autoscaling, *, waiting: int, in_flight: int, before: int) -> int:
    """Return the capacity after many minutes in which the queue stayed like this."""
    datapoints = {
        WAITING: dict.fromkeys(range(20), float(waiting)),
        IN_FLIGHT: dict.fromkeys(range(20), float(in_flight)),
    }
    return autoscaling.desired(datapoints, before=before, now_s=20 * 60)


@pytest.mark.parametrize("row", TABLE)
def test_the_deployed_steps_lead_to_the_number_of_the_table(
    synthesized: SynthesizedStage, row: tuple[int, int, int, int]
) -> None:
    if not synthesized.stage.scales_workers:
        return
    for before in range(synthesized.stage.default_pool.scaling.max_workers + 1):
        capacity = settled(
            autoscaling_of(synthesized), waiting=row[0], in_flight=row[1], before=before
        )
        assert capacity == expected(synthesized.stage, row)


@pytest.mark.parametrize("row", TABLE)
@pytest.mark.parametrize("stage", [DEV, PROD], ids=lambda stage: stage.name)
def test_the_local_decision_is_the_number_of_the_table(
    stage: Stage, row: tuple[int, int, int, int]
) -> None:
    for before in range(stage.default_pool.scaling.max_workers + 1):
        decision = decide_workers(
            stage.default_pool.scaling,
            waiting=row[0],
            in_flight=row[1],
            slots=stage.default_pool.slots,
            wanted_before=before,
            needed_lately=0,
            now_s=1_000,
            last_out_s=None,
        )
        assert decision.wanted == expected(stage, row)


def test_every_queue_leads_to_just_the_number_that_the_policy_says(
    synthesized: SynthesizedStage,
) -> None:
    stage = synthesized.stage
    if not stage.scales_workers:
        return
    autoscaling = autoscaling_of(synthesized)
    for waiting in [*range(0, 130, 3), 10_000]:
        for in_flight in range(20):
            needed = stage.default_pool.scaling.workers_for(
                waiting=waiting, in_flight=in_flight, slots=stage.default_pool.slots
            )
            assert settled(autoscaling, waiting=waiting, in_flight=in_flight, before=0) == needed


def test_only_stages_that_scale_workers_have_alarms_for_it(synthesized: SynthesizedStage) -> None:
    assert len(scaling_alarms(synthesized)) == (2 if synthesized.stage.scales_workers else 0)


def test_what_waits_is_never_filled_in_and_missing_data_is_missing(
    synthesized: SynthesizedStage,
) -> None:
    for alarm in scaling_alarms(synthesized):
        assert alarm["TreatMissingData"] == "missing"
        expressions = [one["Expression"] for one in alarm["Metrics"] if "Expression" in one]
        assert "FILL(waiting" not in "".join(expressions)
        assert {one["MetricStat"]["Period"] for one in alarm["Metrics"] if "MetricStat" in one} == {
            60
        }


def test_workers_are_stopped_after_several_periods(synthesized: SynthesizedStage) -> None:
    for alarm in scaling_alarms(synthesized):
        assert alarm["EvaluationPeriods"] == 5
    none_needed = [
        alarm["DatapointsToAlarm"]
        for alarm in scaling_alarms(synthesized)
        if alarm["ComparisonOperator"] == "LessThanOrEqualToThreshold"
    ]
    assert none_needed == ([5] if synthesized.stage.scales_workers else [])


def test_workers_come_and_go_between_none_and_the_stages_limit(
    synthesized: SynthesizedStage,
) -> None:
    limits = [
        (target["MinCapacity"], target["MaxCapacity"])
        for target in synthesized.all("AWS::ApplicationAutoScaling::ScalableTarget")
    ]
    assert limits == (
        [(pool.min_workers, pool.max_workers) for pool in synthesized.stage.pools]
        if synthesized.stage.scales_workers
        else []
    )


def test_each_stage_has_a_policy() -> None:
    assert PROD.default_pool.scaling == ScalingPolicy(max_workers=5, target_per_worker=20)
    assert DEV.default_pool.scaling == ScalingPolicy(max_workers=2, target_per_worker=20)


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        (ScalingPolicy(max_workers=1), [(1, 0, None)]),
        (ScalingPolicy(max_workers=2), [(1, 0, 1), (2, 1, None)]),
        (ScalingPolicy(min_workers=3, max_workers=4), [(3, 0, 3), (4, 3, None)]),
        (ScalingPolicy(min_workers=2, max_workers=2), [(2, 0, None)]),
    ],
)
def test_the_first_step_begins_with_the_first_worker_and_the_last_has_no_end(
    policy: ScalingPolicy, steps: list[tuple[int, float, float | None]]
) -> None:
    assert list(capacity_steps(policy)) == steps


@pytest.mark.parametrize(("seconds", "window"), [(0, 3), (180, 3), (181, 4), (300, 5)])
def test_the_window_covers_the_seconds_and_is_never_short(seconds: float, window: int) -> None:
    assert periods(ScalingPolicy(scale_in_after_seconds=seconds)) == window


def queues_watched(synthesized: SynthesizedStage) -> list[Properties]:
    dimensions = [
        dimension["Value"]
        for alarm in scaling_alarms(synthesized)
        for one in alarm["Metrics"]
        if "MetricStat" in one
        for dimension in one["MetricStat"]["Metric"]["Dimensions"]
    ]
    return [synthesized.imported(value) for value in dimensions]


def function_that_runs_every_minute(synthesized: SynthesizedStage, name: str) -> Properties:
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed(name)
    )
    targets: list[Any] = [
        target["Arn"]
        for rule in synthesized.all("AWS::Events::Rule")
        if rule.get("ScheduleExpression") == "rate(1 minute)" and rule["State"] == "ENABLED"
        for target in rule["Targets"]
    ]
    assert function in [synthesized.imported(arn) for arn in targets]
    return function


def test_every_queue_that_scaling_looks_at_is_asked_for_its_depth_each_minute(
    synthesized: SynthesizedStage,
) -> None:
    """SQS stops to publish metrics of a queue six hours after the last call that accesses it.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/monitoring-using-cloudwatch.html
    """
    measure = function_that_runs_every_minute(synthesized, "measure")
    pools = measure["Environment"]["Variables"]["POOLS"]["Fn::Join"][1]
    asked = [synthesized.imported(part) for part in pools if not isinstance(part, str)]
    allowed = [
        synthesized.imported(resource)
        for statement in statements_of(synthesized, "measure")
        if "sqs:GetQueueAttributes" in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    watched = queues_watched(synthesized)
    assert bool(watched) == synthesized.stage.scales_workers
    for queue in watched:
        assert queue in asked
        assert queue in allowed
