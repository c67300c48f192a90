"""The three tables, with the names that the adapters use."""

from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from stacks.stage import Stage
from switchyard.contracts import tables as names


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
    return table


def events_table(scope: Construct, construct_id: str, *, stage: Stage) -> dynamodb.Table:
    """Whole events are read through the first index only, an entity's history."""
    table = _table(scope, construct_id, stage=stage, name="events")
    history, *listings = names.EVENT_INDEXES
    _add_event_index(table, history, summary=None)
    for listing in listings:
        _add_event_index(table, listing, summary=names.EVENT_SUMMARY)
    return table


def task_definitions_table(scope: Construct, construct_id: str, *, stage: Stage) -> dynamodb.Table:
    return _table(scope, construct_id, stage=stage, name="task-definitions")


def _table(scope: Construct, construct_id: str, *, stage: Stage, name: str) -> dynamodb.Table:
    return dynamodb.Table(
        scope,
        construct_id,
        table_name=stage.suffixed(name),
        partition_key=_text(names.PARTITION_KEY),
        sort_key=_text(names.SORT_KEY),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        encryption=dynamodb.TableEncryption.DEFAULT,
        time_to_live_attribute=names.TTL,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        removal_policy=stage.removal_policy,
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
