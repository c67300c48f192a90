"""The stacks' tables, as the stacks make them: with their indexes and what these project."""

from typing import Any

from switchyard.contracts.tables import (
    DUE_AT,
    DUE_INDEX,
    DUE_SHARD,
    DUE_SUMMARY,
    EVENT_INDEXES,
    EVENT_SUMMARY,
    JOBS_INDEX,
    JOBS_ORDER,
    JOBS_SUMMARY,
    JOBS_TENANT,
    READY_IN,
    READY_INDEX,
    READY_ORDER,
    READY_SUMMARY,
    event_index_name,
)

REGION = "eu-west-1"
BUCKET = "artifacts"
NUMBERS = {DUE_SHARD, DUE_AT}


def state_table(dynamodb: Any, name: str = "state-test") -> str:
    return a_table(
        dynamodb,
        name,
        extra_attributes=[JOBS_TENANT, JOBS_ORDER, DUE_SHARD, DUE_AT, READY_IN, READY_ORDER],
        GlobalSecondaryIndexes=[
            _index(JOBS_INDEX, JOBS_TENANT, JOBS_ORDER, JOBS_SUMMARY),
            _index(DUE_INDEX, DUE_SHARD, DUE_AT, DUE_SUMMARY),
            _index(READY_INDEX, READY_IN, READY_ORDER, READY_SUMMARY),
        ],
    )


def _index(name: str, partition: str, sort: str, summary: tuple[str, ...]) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": partition, "KeyType": "HASH"},
            {"AttributeName": sort, "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(summary)},
    }


def events_table(dynamodb: Any, name: str = "events-test") -> str:
    return a_table(
        dynamodb,
        name,
        extra_attributes=[f"{index}{key}" for index in EVENT_INDEXES for key in ("PK", "SK")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": event_index_name(index),
                "KeySchema": [
                    {"AttributeName": f"{index}PK", "KeyType": "HASH"},
                    {"AttributeName": f"{index}SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"}
                if index == EVENT_INDEXES[0]
                else {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(EVENT_SUMMARY)},
            }
            for index in EVENT_INDEXES
        ],
    )


def a_table(
    dynamodb: Any, name: str, *, extra_attributes: list[str] | None = None, **more: Any
) -> str:
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "N" if attribute in NUMBERS else "S"}
            for attribute in ["PK", "SK", *(extra_attributes or [])]
        ],
        **more,
    )
    return name
