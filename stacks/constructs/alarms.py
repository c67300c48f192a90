"""Alarms as all of ours are: named for their stage, by which people are told, in plain words."""

import re

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.environment import powertools_environment
from stacks.stage import Stage

DRAINED_WITHIN_MINUTES = 5
TOLD_BY_ITSELF = "What is kept is told by itself: this alarm is for whoever subscribes to it."


def raise_alarm(
    scope: Construct,
    what: str,
    metric: cloudwatch.IMetric,
    *,
    stage: Stage,
    meaning: str,
    above: float = 0,
    minutes: int = 1,
    told: bool = True,
) -> cloudwatch.Alarm:
    """`meaning` is what a person is told: what happened, and what to do.

    What people are told of by other means has a name that wakes nobody: not `told`.
    """
    return cloudwatch.Alarm(
        scope,
        what,
        alarm_name=stage.prefixed(_spoken(what)) if told else untold(_spoken(what), stage),
        alarm_description=meaning if told else f"{meaning} {TOLD_BY_ITSELF}",
        metric=metric,
        threshold=above,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluation_periods=minutes,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def untold(name: str, stage: Stage) -> str:
    """Of an alarm that wakes no watcher: it does not begin with the stage's prefix."""
    return stage.suffixed(f"switchyard-{name}")


def watch_depth(
    scope: Construct, what: str, dead_letters: sqs.Queue, *, stage: Stage, reader: str
) -> None:
    """That a function drains the queue.

    While it fails, its messages are hidden and not visible; when it is not called, they are
    visible. Either count alone would miss one of the two.
    """
    told = f"The log is /aws/lambda/{stage.prefixed(reader)}."
    raise_alarm(
        scope,
        f"{what}Unread",
        visible(dead_letters),
        stage=stage,
        meaning=f"Dead letters are not read: the function {reader} is not called. Nothing is lost "
        f"for 14 days. Look whether its event source mapping is enabled. {told}",
        minutes=DRAINED_WITHIN_MINUTES,
    )
    raise_alarm(
        scope,
        f"{what}Unkept",
        hidden(dead_letters),
        stage=stage,
        meaning=f"Dead letters are not handled: the function {reader} is called and fails. Nothing "
        f"is lost for 14 days. {told}",
        minutes=DRAINED_WITHIN_MINUTES,
    )


def visible(queue: sqs.Queue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_visible(
        period=Duration.minutes(1), statistic="Maximum"
    )


def hidden(queue: sqs.Queue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_not_visible(
        period=Duration.minutes(1), statistic="Maximum"
    )


def counted(name: str, stage: Stage, *, service: str, **dimensions: str) -> cloudwatch.Metric:
    """What a function counts."""
    powertools = powertools_environment(stage, service=service)
    return cloudwatch.Metric(
        namespace=powertools["POWERTOOLS_METRICS_NAMESPACE"],
        metric_name=name,
        dimensions_map={"service": powertools["POWERTOOLS_SERVICE_NAME"], **dimensions},
        period=Duration.minutes(1),
        statistic="Sum",
    )


def _spoken(what: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", what).lower()
