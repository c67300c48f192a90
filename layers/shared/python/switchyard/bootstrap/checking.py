"""The health check."""

from typing import Any

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.unsettled import DynamoDbUnsettled
from switchyard.bootstrap.alerting import alert_publisher
from switchyard.bootstrap.wiring import definition_store, emitter_for
from switchyard.domain.health.health import HealthLimits
from switchyard.settings import CheckSettings
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard.usecases.health.watch_health import HealthWatch


def health_watch(settings: CheckSettings) -> HealthWatch:
    return HealthWatch(
        checker=task_checker(
            aws.client("dynamodb"),
            state=settings.state_table_name,
            definitions=settings.task_definitions_table,
            limits=settings.limits,
        ),
        presence=DynamoDbPresence(DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)),
        alerts=alert_publisher(settings),
        emitter=emitter_for(settings, origin="health-check"),
        tenant=settings.tenant_id,
    )


def task_checker(
    dynamodb: Any, *, state: str, definitions: str, limits: HealthLimits
) -> TaskChecker:
    return TaskChecker(
        unsettled=DynamoDbUnsettled(DynamoDbTable(dynamodb, state)),
        definitions=definition_store(dynamodb, definitions),
        clock=function_clock(),
        limits=limits,
    )
