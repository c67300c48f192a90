"""Scales the workers with the task queue, down to none; docs/decisions/0023 says why like this."""

import math
from collections.abc import Iterator
from typing import Final, cast

from aws_cdk import Duration
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_sqs as sqs

from switchyard.domain.measuring.scaling import ScalingPolicy

PERIOD: Final = Duration.minutes(1)
"""SQS publishes its metrics once a minute."""
FEWEST_PERIODS: Final = 3
"""The fewest periods: datapoints arrive a minute or more late, and some never."""
HALF: Final = 0.5
"""The number of workers needed is whole: between two of them lies the border of a step."""


def scale_on_backlog(
    service: ecs.FargateService, *, queue: sqs.IQueue, policy: ScalingPolicy, slots: int
) -> None:
    """Set exact capacities, because target tracking cannot wake a service from zero.

    Both alarms look at the same window of datapoints. As long as one of them needs a worker, the
    service has as many workers as the greatest of them needs: one datapoint raises the number, and
    only a whole window of smaller ones lowers it. A window without any need leaves the least.
    """
    capacity = service.auto_scale_task_count(
        min_capacity=policy.min_workers, max_capacity=policy.max_workers
    )
    target = cast("autoscaling.ScalableTarget", capacity.node.find_child("Target"))
    needed, window = _workers_needed(queue, policy, slots), periods(policy)
    some = _action(target, "Backlog", policy)
    for workers, lower, upper in capacity_steps(policy):
        some.add_adjustment(adjustment=workers, lower_bound=lower, upper_bound=upper)
    none = _action(target, "NoBacklog", policy)
    none.add_adjustment(adjustment=policy.min_workers, upper_bound=0)
    compare = cloudwatch.ComparisonOperator
    above = compare.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
    below = compare.LESS_THAN_OR_EQUAL_TO_THRESHOLD
    _act_on(needed, some, above, datapoints=1, window=window)
    _act_on(needed, none, below, datapoints=window, window=window)


def capacity_steps(policy: ScalingPolicy) -> Iterator[tuple[int, float, float | None]]:
    """Return workers with the bounds of their step, as distances from the alarm's threshold.

    A lower bound belongs to its step and an upper bound does not:
    https://docs.aws.amazon.com/autoscaling/application/userguide/step-scaling-policy-overview.html
    """
    fewest, most = max(policy.min_workers, 1), policy.max_workers
    for workers in range(fewest, most + 1):
        yield workers, 0 if workers == fewest else workers - 1, workers if workers < most else None


def periods(policy: ScalingPolicy) -> int:
    """Return how many datapoints the alarms look at."""
    return max(math.ceil(policy.scale_in_after_seconds / PERIOD.to_seconds()), FEWEST_PERIODS)


def _action(
    target: autoscaling.ScalableTarget, name: str, policy: ScalingPolicy
) -> autoscaling.StepScalingAction:
    return autoscaling.StepScalingAction(
        target,
        name,
        scaling_target=target,
        adjustment_type=autoscaling.AdjustmentType.EXACT_CAPACITY,
        metric_aggregation_type=autoscaling.MetricAggregationType.MAXIMUM,
        cooldown=Duration.seconds(policy.scale_out_cooldown_seconds),
    )


def _act_on(
    needed: cloudwatch.MathExpression,
    action: autoscaling.StepScalingAction,
    comparison: cloudwatch.ComparisonOperator,
    *,
    datapoints: int,
    window: int,
) -> None:
    alarm = cloudwatch.Alarm(
        action,
        "Alarm",
        metric=needed,
        threshold=HALF,
        comparison_operator=comparison,
        evaluation_periods=window,
        datapoints_to_alarm=datapoints,
        treat_missing_data=cloudwatch.TreatMissingData.MISSING,
        alarm_description="Scales the workers: it sends no notification.",
    )
    alarm.add_alarm_action(actions.ApplicationScalingAction(action))


def _workers_needed(
    queue: sqs.IQueue, policy: ScalingPolicy, slots: int
) -> cloudwatch.MathExpression:
    """Compute `ScalingPolicy.workers_for` from the queue's own metrics, without its limits.

    SQS reports the messages in flight only while there are some
    (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html),
    so a plain sum would be undefined whenever no worker runs: none would ever be started. What
    waits is never filled in: without its datapoint there is no value, and the alarm waits for it.
    """
    waiting = queue.metric_approximate_number_of_messages_visible(statistic="Maximum")
    running = queue.metric_approximate_number_of_messages_not_visible(statistic="Maximum")
    messages = _math("waiting + FILL(running, 0)", waiting=waiting, running=running)
    by_share = _math(f"messages / {policy.target_per_worker}", messages=messages)
    by_slots = _math(f"(messages - waiting) / {slots}", messages=messages, waiting=waiting)
    return _math("CEIL(MAX([by_share, by_slots]))", by_share=by_share, by_slots=by_slots)


def _math(expression: str, **metrics: cloudwatch.IMetric) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(expression=expression, period=PERIOD, using_metrics=metrics)
