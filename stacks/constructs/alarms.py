"""Alarms: named for their stage, with a description that says what happened and what to do."""

import re

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.environment import powertools_environment
from stacks.stage import Stage
from switchyard.contracts import metrics

DRAINED_WITHIN_MINUTES = 5
SHARED_ENTRIES = {
    "-reads-throttled": "table-throttled",
    "-writes-throttled": "table-throttled",
    "-updates-throttled": "table-throttled",
    "-puts-throttled": "table-throttled",
    "-throttled": "function-throttled",
    "-not-invoked": "function-not-invoked",
    "-not-read": "queue-not-read",
    "-unread": "dead-letters-not-read",
    "-unkept": "dead-letters-not-handled",
}
"""Entries of the runbook that explain several alarms, by how those alarms' names end."""
WAIT_FOR_NOBODY = "tasks-wait-for-nobody"
READ_WITHIN = Duration.minutes(15)  # a message that fails five times is parked by then
MISSED_RUNS = 5  # a run that comes late is no reason to wake a person
REPORTED_BY_ITSELF = "Parked messages are reported by alerts: this alarm is for its subscribers."


def raise_alarm(
    scope: Construct,
    what: str,
    metric: cloudwatch.IMetric,
    *,
    stage: Stage,
    meaning: str,
    above: float = 0,
    minutes: int = 1,
    reported: bool = True,
) -> cloudwatch.Alarm:
    """Raise an alarm; `meaning` says what happened, and what to do.

    An alarm that is not `reported` has a name that no rule matches: alerts report it otherwise.
    """
    meaning = f"{meaning} {looked_up(_spoken(what))}"
    return cloudwatch.Alarm(
        scope,
        what,
        alarm_name=stage.prefixed(_spoken(what)) if reported else unreported(_spoken(what), stage),
        alarm_description=meaning if reported else f"{meaning} {REPORTED_BY_ITSELF}",
        metric=metric,
        threshold=above,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluation_periods=minutes,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def raise_if_not_invoked(
    scope: Construct,
    what: str,
    function: lambda_.IFunction,
    *,
    stage: Stage,
    every: Duration,
    schedule: events.IRule,
    meaning: str,
) -> None:
    """Notice a schedule that does not invoke its function: then there are no errors either."""
    window = Duration.minutes(every.to_minutes() * MISSED_RUNS)
    alarm = cloudwatch.Alarm(
        scope,
        what,
        alarm_name=stage.prefixed(_spoken(what)),
        alarm_description=f"{meaning} {looked_up(_spoken(what))}",
        metric=function.metric_invocations(period=window, statistic="Sum"),
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
    )
    alarm.node.add_dependency(schedule)


def raise_if_not_read(
    scope: Construct, queue: sqs.Queue, *, stage: Stage, name: str, reader: str
) -> None:
    """Notice a function that its queue does not invoke, or that is much too slow.

    Neither has errors. A message that was received three times does not count as the oldest.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    raise_alarm(
        scope,
        f"{name.title().replace('-', '')}NotRead",
        queue.metric_approximate_age_of_oldest_message(
            period=Duration.minutes(1), statistic="Maximum"
        ),
        stage=stage,
        meaning=f"Messages have waited for the function {reader} for over a quarter of an hour. "
        "Nothing is lost for 14 days. Look with `switchyard doctor` whether its event source "
        "mapping is enabled.",
        above=READ_WITHIN.to_seconds(),
        minutes=DRAINED_WITHIN_MINUTES,
    )


def looked_up(name: str) -> str:
    """Refer to the runbook's entry for an alarm."""
    entries = (entry for suffix, entry in SHARED_ENTRIES.items() if name.endswith(suffix))
    if name.startswith(WAIT_FOR_NOBODY):  # there is one for each pool
        return f"Runbook: docs/runbook.md#{WAIT_FOR_NOBODY}"
    return f"Runbook: docs/runbook.md#{next(entries, name)}"


def unreported(name: str, stage: Stage) -> str:
    """Return the name of an alarm that posts no alert: it does not have the stage's prefix."""
    return f"switchyard-{name}-{stage.name}"


def watch_depth(
    scope: Construct, what: str, dead_letters: sqs.Queue, *, stage: Stage, reader: str
) -> None:
    """Raise alarms when no function drains the queue.

    While it fails, its messages are hidden and not visible; when it is not called, they are
    visible. Either count alone would miss one of the two.
    """
    reported = f"The log is /aws/lambda/{stage.prefixed(reader)}."
    raise_alarm(
        scope,
        f"{what}Unread",
        visible(dead_letters),
        stage=stage,
        meaning=f"Dead letters are not read: the function {reader} is not called. Nothing is lost "
        f"for 14 days. Look whether its event source mapping is enabled. {reported}",
        minutes=DRAINED_WITHIN_MINUTES,
    )
    raise_alarm(
        scope,
        f"{what}Unkept",
        hidden(dead_letters),
        stage=stage,
        meaning=f"Dead letters are not handled: the function {reader} is called and fails. Nothing "
        f"is lost for 14 days. {reported}",
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
    """Return a metric that a function counts."""
    powertools = powertools_environment(stage, service=service)
    return cloudwatch.Metric(
        namespace=powertools["POWERTOOLS_METRICS_NAMESPACE"],
        metric_name=name,
        dimensions_map={
            "service": powertools["POWERTOOLS_SERVICE_NAME"],
            metrics.STAGE: stage.name,
            **dimensions,
        },
        period=Duration.minutes(1),
        statistic="Sum",
    )


def _spoken(what: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", what).lower()
