"""Wires the functions that check running tasks and measure the stage."""

from typing import Any

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.overdue import DynamoDbUnsettled
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.bootstrap.alerts import alert_publisher
from switchyard.bootstrap.pools import pool_directory, pool_survey
from switchyard.bootstrap.wiring import definition_store, emitter_for
from switchyard.domain.health.health import HealthLimits
from switchyard.domain.scheduling.pools import DeployedPool
from switchyard.settings import CheckSettings, MeasureSettings
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard.usecases.health.watch_health import HealthWatch
from switchyard.usecases.measuring.measure import Measurer


def health_watch(settings: CheckSettings) -> HealthWatch:
    return HealthWatch(
        checker=task_checker(
            aws.client("dynamodb"),
            state=settings.state_table_name,
            definitions=settings.task_definitions_table,
            limits=settings.limits,
            pools=settings.pools,
        ),
        presence=DynamoDbPresence(DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)),
        alerts=alert_publisher(settings),
        emitter=emitter_for(settings, origin="health-check"),
        tenant=settings.tenant_id,
    )


def task_checker(
    dynamodb: Any,
    *,
    state: str,
    definitions: str,
    limits: HealthLimits,
    pools: tuple[DeployedPool, ...],
) -> TaskChecker:
    table, clock = DynamoDbTable(dynamodb, state), function_clock()
    return TaskChecker(
        unsettled=DynamoDbUnsettled(table),
        presence=DynamoDbPresence(table),
        definitions=definition_store(dynamodb, definitions),
        clock=clock,
        limits=limits,
        served_groups=pool_directory(pools, table, clock).groups if pools else None,
    )


def measurer(settings: MeasureSettings, **where: str) -> Measurer:
    """`where` is what the environment would else say of region, endpoint and credentials."""
    state = DynamoDbTable(aws.client("dynamodb", **where), settings.state_table_name)
    sqs, clock = aws.client("sqs", **where), function_clock()
    return Measurer(
        unsettled=DynamoDbUnsettled(state),
        presence=DynamoDbPresence(state),
        counters=DynamoDbCounters(state),
        published=DynamoDbPublishedMinutes(state),
        depths=SqsQueueDepths(sqs),
        task_queue=settings.sqs_queue_url,
        dead_letter_queues=settings.dead_letter_queue_urls.split(","),
        clock=clock,
        pools=pool_survey(settings.pools, state, sqs, clock),
    )
