"""Alarms on the stage as a whole, from what is measured every minute."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.constructs.measuring import measured
from stacks.stage import Stage
from switchyard.domain.scheduling.pools import DEFAULT_POOL

LONGEST_WAIT = Duration.minutes(30)
WAITING_MINUTES = 5  # a task that failed after a long attempt waits for its next one, but not long
DRAINED_MINUTES = 5
NOBODY_MINUTES = 10
FAILURE_WINDOW = Duration.minutes(15)
FAILURE_PERCENT = 50
ENOUGH_TASKS = 5  # of fewer, half is no trend: their jobs are reported one by one


def watch_stage(scope: Construct, *, stage: Stage, measure: lambda_.Function) -> None:
    raise_alarm(
        scope,
        "OldestItemTooOld",
        measured("age_of_oldest_item", stage, statistic="Maximum"),
        stage=stage,
        meaning="A task has been ready for over half an hour, and no worker took it. Look with "
        "`switchyard metrics` and `switchyard doctor`: are there workers, are they paused, does "
        "the model refuse them?",
        above=LONGEST_WAIT.to_seconds(),
        minutes=WAITING_MINUTES,
    )
    raise_alarm(
        scope,
        "DeadLettersStay",
        measured("dlq_depth", stage, statistic="Minimum"),
        stage=stage,
        meaning="Dead letters have not been drained for five minutes. Look with `switchyard "
        "doctor` which queue holds them; then look at the log of the function that reads it.",
        minutes=DRAINED_MINUTES,
    )
    raise_alarm(
        scope,
        "StageNotMeasured",
        measure.metric_errors(period=Duration.minutes(1)),
        stage=stage,
        meaning="The stage has not been measured for five minutes, so no other alarm on it can be "
        f"trusted. The log is /aws/lambda/{stage.prefixed('measure')}.",
        minutes=DRAINED_MINUTES,
    )
    if stage.scales_workers:
        _watch_for_workers(scope, stage)
    if stage.watches_workers:
        _compare(scope, stage)


def _watch_for_workers(scope: Construct, stage: Stage) -> None:
    """Raise an alarm where workers come from nothing: a deployment without tasks starts none."""
    others = [pool.name for pool in stage.pools if pool.name != DEFAULT_POOL]
    for pool in (None, *others):
        raise_alarm(
            scope,
            "TasksWaitForNobody" + (f"-{pool}" if pool else ""),
            _waiting_for_nobody(stage, pool),
            stage=stage,
            meaning=f"Tasks wait, but for ten minutes there has been no worker{_of(pool)}. Look "
            "with `switchyard doctor`: does the service start, does its image exist, is its "
            "secret there?",
            minutes=NOBODY_MINUTES,
        )


def _of(pool: str | None) -> str:
    return f" of the pool {pool}" if pool else ""


def _compare(scope: Construct, stage: Stage) -> None:
    raise_alarm(
        scope,
        "MostTasksFail",
        _failed_percent(stage),
        stage=stage,
        meaning="Of the tasks that ended within a quarter of an hour most failed or timed out. "
        "Look with `switchyard jobs --status failed` what they have in common; `switchyard pause` "
        "stops the spending meanwhile.",
        above=FAILURE_PERCENT,
    )


def _waiting_for_nobody(stage: Stage, pool: str | None) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(
        expression="IF(waiting > 0 AND workers < 1, 1, 0)",
        period=Duration.minutes(1),
        using_metrics={
            "waiting": measured("queue_depth", stage, statistic="Minimum", pool=pool),
            "workers": measured("consumer_count", stage, statistic="Maximum", pool=pool),
        },
    )


def _failed_percent(stage: Stage) -> cloudwatch.MathExpression:
    ended = "(completed + failed + late)"
    enough = f"{ended} * {FAILURE_WINDOW.to_seconds():.0f} >= {ENOUGH_TASKS}"
    return cloudwatch.MathExpression(
        expression=f"IF({enough}, 100 * (failed + late) / {ended}, 0)",
        period=FAILURE_WINDOW,
        using_metrics={
            "completed": measured("completion_rate", stage, over=FAILURE_WINDOW),
            "failed": measured("failure_rate", stage, over=FAILURE_WINDOW),
            "late": measured("timeout_rate", stage, over=FAILURE_WINDOW),
        },
    )
