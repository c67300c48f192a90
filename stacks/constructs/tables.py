"""The four tables, with the names that the adapters use."""

from aws_cdk import Duration
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from stacks.constructs.alarms import raise_alarm
from stacks.stage import Stage
from switchyard.contracts import tables as names

EVERY_MINUTE = Duration.minutes(1)
THROTTLED_MINUTES = 5  # clients try again: what passes by itself raises no alarm


def state_table(scope: Construct, construct_id: str, *, stage: Stage) -> dynamodb.Table:
    table = _table(scope, construct_id, stage=stage, name="state")
    table.add_global_secondary_index(
        index_name=names.DUE_INDEX,
        partition_key=_number(names.DUE_SHARD),
        sort_key=_number(names.DUE_AT),
        projection_type=dynamodb.ProjectionType.INCLUDE,
        non_key_attributes=list(names.DUE_SUMMARY),
    )
    table.add_global_secondary_index(
        index_name=names.JOBS_INDEX,
        partition_key=_text(names.JOBS_TENANT),
        sort_key=_text(names.JOBS_ORDER),
        projection_type=dynamodb.ProjectionType.INCLUDE,
        non_key_attributes=list(names.JOBS_SUMMARY),
    )
    table.add_global_secondary_index(
        index_name=names.READY_INDEX,
        partition_key=_text(names.READY_IN),
        sort_key=_text(names.READY_ORDER),
        projection_type=dynamodb.ProjectionType.INCLUDE,
        non_key_attributes=list(names.READY_SUMMARY),
    )
    _watch_index_throttles(
        scope, "StateUpdatesThrottled", table, stage=stage, operation="UpdateItem"
    )
    return table


def events_table(scope: Construct, construct_id: str, *, stage: Stage) -> dynamodb.Table:
    """Make the events table; whole events are read through its first index only, by entity."""
    table = _table(scope, construct_id, stage=stage, name="events")
    history, *listings = names.EVENT_INDEXES
    _add_event_index(table, history, summary=None)
    for listing in listings:
        _add_event_index(table, listing, summary=names.EVENT_SUMMARY)
    _watch_index_throttles(scope, "EventPutsThrottled", table, stage=stage, operation="PutItem")
    return table


def task_definitions_table(scope: Construct, construct_id: str, *, stage: Stage) -> dynamodb.Table:
    return _table(scope, construct_id, stage=stage, name="task-definitions")


def api_keys_table(scope: Construct, construct_id: str, *, stage: Stage) -> dynamodb.Table:
    """Make a table apart, so that no role but the authorizer's can write a key."""
    return _table(scope, construct_id, stage=stage, name="api-keys")


def _table(scope: Construct, construct_id: str, *, stage: Stage, name: str) -> dynamodb.Table:
    table = dynamodb.Table(
        scope,
        construct_id,
        table_name=stage.data_name(name),
        partition_key=_text(names.PARTITION_KEY),
        sort_key=_text(names.SORT_KEY),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        encryption=dynamodb.TableEncryption.DEFAULT,
        time_to_live_attribute=names.TTL,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        deletion_protection=stage.deletion_protection,
        removal_policy=stage.removal_policy,
    )
    _watch_throttles(scope, construct_id, table, stage=stage, name=name)
    return table


def _watch_throttles(
    scope: Construct, construct_id: str, table: dynamodb.Table, *, stage: Stage, name: str
) -> None:
    for kind in ("Read", "Write"):
        raise_alarm(
            scope,
            f"{construct_id}{kind}sThrottled",
            table.metric(f"{kind}ThrottleEvents", period=EVERY_MINUTE, statistic="Sum"),
            stage=stage,
            meaning=f"For five minutes DynamoDB has refused {kind.lower()}s of the table "
            f"{stage.data_name(name)}: one partition gets more than it can take, or the table "
            "grew faster than DynamoDB adds capacity.",
            minutes=THROTTLED_MINUTES,
        )


def _watch_index_throttles(
    scope: Construct, what: str, table: dynamodb.Table, *, stage: Stage, operation: str
) -> None:
    """Notice an index that holds back its table: only the refused requests count those.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TroubleshootingThrottling-cloudwatch.html
    """
    refused = table.metric(
        "ThrottledRequests",
        period=EVERY_MINUTE,
        statistic="Sum",
        dimensions_map={"TableName": table.table_name, "Operation": operation},
    )
    raise_alarm(
        scope,
        what,
        refused,
        stage=stage,
        meaning=f"For five minutes DynamoDB has refused requests {operation}: a partition of the "
        "table or of one of its indexes gets more than it can take.",
        minutes=THROTTLED_MINUTES,
    )


def _add_event_index(table: dynamodb.Table, index: str, *, summary: tuple[str, ...] | None) -> None:
    projection = dynamodb.ProjectionType
    table.add_global_secondary_index(
        index_name=names.event_index_name(index),
        partition_key=_text(f"{index}PK"),
        sort_key=_text(f"{index}SK"),
        projection_type=projection.ALL if summary is None else projection.INCLUDE,
        non_key_attributes=None if summary is None else list(summary),
    )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _number(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.NUMBER)
