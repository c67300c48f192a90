"""As many workers as the backlog needs, none when there is none."""

from aws_cdk import Duration
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_sqs as sqs

from stacks.stage import Stage


def scale_on_backlog(service: ecs.FargateService, *, queue: sqs.IQueue, stage: Stage) -> None:
    """Exact capacities, because target tracking cannot wake a service from zero."""
    workers = service.auto_scale_task_count(min_capacity=0, max_capacity=stage.max_workers)
    workers.scale_on_metric(
        "Backlog",
        metric=_backlog(queue),
        adjustment_type=autoscaling.AdjustmentType.EXACT_CAPACITY,
        scaling_steps=capacity_steps(stage.max_workers, tasks_per_worker=stage.max_concurrent),
        cooldown=Duration.minutes(1),
    )


def capacity_steps(max_workers: int, *, tasks_per_worker: int) -> list[autoscaling.ScalingInterval]:
    """Double the workers whenever the backlog exceeds what the present ones can run at once.

    The bounds lie between whole numbers: at a bound both of the policy's alarms would fire.
    """
    steps = [autoscaling.ScalingInterval(upper=0.5, change=0)]
    workers = 0
    while workers < max_workers:
        bound = workers * tasks_per_worker + 0.5
        workers = min(max(1, workers * 2), max_workers)
        steps.append(autoscaling.ScalingInterval(lower=bound, change=workers))
    return steps


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
