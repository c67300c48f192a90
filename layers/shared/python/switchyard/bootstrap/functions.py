"""The smaller Lambda functions."""

from dataclasses import dataclass
from datetime import timedelta

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock
from switchyard.ports import ApiKeys, Clock, EventLog
from switchyard.settings import AuthorizerSettings, SaveEventSettings


@dataclass(frozen=True, kw_only=True)
class AuthorizerPorts:
    keys: ApiKeys
    clock: Clock


@dataclass(frozen=True, kw_only=True)
class SaveEventPorts:
    log: EventLog
    clock: Clock
    retention: timedelta


def authorizer_ports(settings: AuthorizerSettings) -> AuthorizerPorts:
    table = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    return AuthorizerPorts(keys=DynamoDbApiKeys(table), clock=SystemClock())


def save_event_ports(settings: SaveEventSettings) -> SaveEventPorts:
    table = DynamoDbTable(aws.client("dynamodb"), settings.dynamodb_events_table_name)
    return SaveEventPorts(
        log=DynamoDbEventLog(table),
        clock=SystemClock(),
        retention=timedelta(days=settings.events_retention_days),
    )
