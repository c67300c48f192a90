"""CloudWatch's alarms and Application Auto Scaling, as a synthesized template configures them.

How an alarm treats late and missing datapoints:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
How steps and cooldowns work:
https://docs.aws.amazon.com/autoscaling/application/userguide/step-scaling-policy-overview.html
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from tests.stacks.alarms.metric_math import MetricMath, Series
from tests.stacks.synthesized import Properties, SynthesizedStage

MINUTE_S: Final = 60
FURTHER_PERIODS: Final = 2
"""CloudWatch looks at more periods than it evaluates; its documentation's example: 5 for 3."""

Aggregation = Literal["window", "newest"]
"""Whether the policy gets the maximum of the datapoints that were evaluated, or the newest only.

CDK documents `metricAggregationType` as the first; AWS's API reference says nothing of it.
"""

_BREACHES: Final = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanOrEqualToThreshold": operator.le,
}


class Alarm:
    def __init__(self, properties: Properties) -> None:
        assert properties.get("TreatMissingData", "missing") == "missing"
        self.threshold: float = properties["Threshold"]
        self.window: int = properties["EvaluationPeriods"]
        self._needed: int = properties.get("DatapointsToAlarm", self.window)
        self._breaches = _BREACHES[properties["ComparisonOperator"]]
        self._math = MetricMath(properties["Metrics"])

    def breach(self, datapoints: Mapping[str, Series], *, now_s: int) -> list[float] | None:
        """Return the evaluated values, the newest last, while the state is ALARM."""
        end = now_s // MINUTE_S
        minutes = range(max(end - self.window - FURTHER_PERIODS, 0), end)
        known = sorted(self._math.evaluate(datapoints, minutes).items())[-self.window :]
        breaching = [at for at, value in known if self._breaches(value, self.threshold)]
        if len(breaching) >= self._needed or self._breaches_among_gaps(known, breaching, end):
            return [value for _, value in known]
        return None

    def _breaches_among_gaps(
        self, known: Sequence[tuple[int, float]], breaching: Sequence[int], end: int
    ) -> bool:
        """Say whether an old enough breach among too few datapoints is an alarm."""
        unbroken = bool(known) and len(known) < self.window and len(breaching) == len(known)
        return unbroken and end - breaching[0] >= self._needed


@dataclass
class ScalingPolicyOfService:
    alarm: Alarm
    configuration: Mapping[str, Any]
    aggregation: Aggregation
    cools_until_s: float = 0.0

    def capacity(self, datapoints: Mapping[str, Series], *, now_s: int) -> int | None:
        """Return the exact capacity of the step that is taken, if one is."""
        values = self.alarm.breach(datapoints, now_s=now_s)
        if values is None:
            return None
        assert self.configuration["AdjustmentType"] == "ExactCapacity"
        assert self.configuration["MetricAggregationType"] == "Maximum"
        value = max(values) if self.aggregation == "window" else values[-1]
        return _step(self.configuration["StepAdjustments"], value - self.alarm.threshold)


class Autoscaling:
    """Is called once a minute, as alarms call it for as long as they are in ALARM."""

    def __init__(
        self,
        policies: Sequence[ScalingPolicyOfService],
        *,
        limits: tuple[int, int],
    ) -> None:
        self.policies = policies
        self.least, self.most = limits

    @property
    def window(self) -> int:
        return max(policy.alarm.window for policy in self.policies)

    def desired(self, datapoints: Mapping[str, Series], *, before: int, now_s: int) -> int:
        for policy in self.policies:
            asked = policy.capacity(datapoints, now_s=now_s)
            if asked is None:
                continue
            asked = min(max(asked, self.least), self.most)
            if asked < before and now_s < policy.cools_until_s:
                continue  # during a cooldown only more capacity is granted
            if asked != before:
                policy.cools_until_s = now_s + policy.configuration["Cooldown"]
                before = asked
        return before


def autoscaling_of(
    synthesized: SynthesizedStage, aggregation: Aggregation = "window"
) -> Autoscaling:
    alarms, limits = _configured(synthesized)
    return Autoscaling(
        [ScalingPolicyOfService(alarm, steps, aggregation) for alarm, steps in alarms],
        limits=limits,
    )


@cache
def _configured(
    synthesized: SynthesizedStage,
) -> tuple[list[tuple[Alarm, Mapping[str, Any]]], tuple[int, int]]:
    target, *_ = synthesized.all("AWS::ApplicationAutoScaling::ScalableTarget")
    alarms = [
        (
            Alarm(alarm),
            synthesized.imported(alarm["AlarmActions"][0])["StepScalingPolicyConfiguration"],
        )
        for alarm in scaling_alarms(synthesized)
    ]
    return alarms, (target["MinCapacity"], target["MaxCapacity"])


def scaling_alarms(synthesized: SynthesizedStage, pool: str = "") -> list[Properties]:
    """Return the alarms of the consumer stack that act on a scaling policy of a pool."""
    resources = synthesized.template("consumer")["Resources"]
    policies = {
        name
        for name, resource in resources.items()
        if resource["Type"] == "AWS::ApplicationAutoScaling::ScalingPolicy"
        and name.startswith(f"Worker{pool}Service")
    }
    return [
        resource["Properties"]
        for resource in resources.values()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
        and any(
            one.get("Ref") in policies for one in resource["Properties"].get("AlarmActions", ())
        )
    ]


def _step(steps: Sequence[Mapping[str, Any]], breach: float) -> int | None:
    """A bound nearer to the threshold belongs to its step, the farther one does not."""
    for step in steps:
        lower = step.get("MetricIntervalLowerBound", float("-inf"))
        upper = step.get("MetricIntervalUpperBound", float("inf"))
        if (lower <= breach < upper) if breach >= 0 else (lower < breach <= upper):
            adjustment: int = step["ScalingAdjustment"]
            return adjustment
    return None
