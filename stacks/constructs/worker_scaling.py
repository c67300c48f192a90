"""As many workers as the backlog needs, none when there is none."""

from collections.abc import Iterator
from typing import Final, cast

from aws_cdk import Duration
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_sqs as sqs

from switchyard.domain.measuring.scaling import ScalingPolicy

SOMETHING: Final = 0.5
"""More than nothing and less than one message: at a whole number both alarms would fire."""


def scale_on_backlog(
    service: ecs.FargateService, *, queue: sqs.IQueue, policy: ScalingPolicy
) -> None:
    """Exact capacities, because target tracking cannot wake a service from zero.

    With a backlog its steps count, after the cooldown of scaling out; without one the least number
    does, after that of scaling in. A backlog is told once a minute, as the greatest of that minute:
    workers go before it has ended only when it was smaller for so long.
    """
    capacity = service.auto_scale_task_count(
        min_capacity=policy.min_workers, max_capacity=policy.max_workers
    )
    target = cast("autoscaling.ScalableTarget", capacity.node.find_child("Target"))
    out = _action(target, "Backlog", policy.scale_out_cooldown_seconds)
    for workers, lower, upper in capacity_steps(policy):
        out.add_adjustment(adjustment=workers, lower_bound=lower, upper_bound=upper)
    back = _action(target, "NoBacklog", policy.scale_in_cooldown_seconds)
    back.add_adjustment(adjustment=policy.capacity_for(0), upper_bound=0)
    compare = cloudwatch.ComparisonOperator
    _act_on(queue, out, compare.GREATER_THAN_OR_EQUAL_TO_THRESHOLD)
    _act_on(queue, back, compare.LESS_THAN_OR_EQUAL_TO_THRESHOLD)


def capacity_steps(policy: ScalingPolicy) -> Iterator[tuple[int, float, float | None]]:
    """How many workers from where to where: distances from the bound at which the alarm fires."""
    fewest, most = policy.capacity_for(1), policy.max_workers
    for workers in range(fewest, most + 1):
        lower = 0 if workers == fewest else (workers - 1) * policy.target_per_worker
        yield workers, lower, workers * policy.target_per_worker if workers < most else None


def _action(
    target: autoscaling.ScalableTarget, name: str, cooldown_seconds: float
) -> autoscaling.StepScalingAction:
    return autoscaling.StepScalingAction(
        target,
        name,
        scaling_target=target,
        adjustment_type=autoscaling.AdjustmentType.EXACT_CAPACITY,
        metric_aggregation_type=autoscaling.MetricAggregationType.MAXIMUM,
        cooldown=Duration.seconds(cooldown_seconds),
    )


def _act_on(
    queue: sqs.IQueue,
    action: autoscaling.StepScalingAction,
    comparison: cloudwatch.ComparisonOperator,
) -> None:
    alarm = cloudwatch.Alarm(
        action,
        "Alarm",
        metric=_backlog(queue),
        threshold=SOMETHING,
        comparison_operator=comparison,
        evaluation_periods=1,
        alarm_description="Scales the workers: it tells nobody anything.",
    )
    alarm.add_alarm_action(actions.ApplicationScalingAction(action))


def _backlog(queue: sqs.IQueue) -> cloudwatch.MathExpression:
    """In-flight messages count: scaling in on waiting ones alone would stop busy workers.

    Without workers nothing is in flight, and what is not reported would leave the sum undefined.
    """
    return cloudwatch.MathExpression(
        expression="FILL(waiting, 0) + FILL(running, 0)",
        period=Duration.minutes(1),
        using_metrics={
            "waiting": queue.metric_approximate_number_of_messages_visible(statistic="Maximum"),
            "running": queue.metric_approximate_number_of_messages_not_visible(statistic="Maximum"),
        },
    )
