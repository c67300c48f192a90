"""The smaller Lambda functions."""

from dataclasses import dataclass
from datetime import timedelta

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.counters import DynamoDbCounters
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.ports import ApiKeys, Clock, Counters, EventLog, SpanExporter
from switchyard.settings import AuthorizerSettings, SaveEventSettings


@dataclass(frozen=True, kw_only=True)
class AuthorizerPorts:
    keys: ApiKeys
    clock: Clock


@dataclass(frozen=True, kw_only=True)
class SaveEventPorts:
    log: EventLog
    counters: Counters
    clock: Clock
    retention: timedelta
    exporter: SpanExporter | None


def authorizer_ports(settings: AuthorizerSettings) -> AuthorizerPorts:
    table = DynamoDbTable(aws.client("dynamodb"), settings.api_keys_table_name)
    return AuthorizerPorts(keys=DynamoDbApiKeys(table), clock=function_clock())


def save_event_ports(settings: SaveEventSettings) -> SaveEventPorts:
    dynamodb = aws.client("dynamodb")
    return SaveEventPorts(
        log=DynamoDbEventLog(DynamoDbTable(dynamodb, settings.dynamodb_events_table_name)),
        counters=DynamoDbCounters(DynamoDbTable(dynamodb, settings.state_table_name)),
        clock=function_clock(),
        retention=timedelta(days=settings.events_retention_days),
        exporter=_exporter(settings) if settings.otel_exporter_otlp_endpoint else None,
    )


def _exporter(settings: SaveEventSettings) -> SpanExporter:
    from switchyard.bootstrap.span_export import span_exporter  # noqa: PLC0415 - few stages need it

    return span_exporter(settings)
