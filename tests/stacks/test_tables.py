from typing import Any

import pytest

from switchyard.contracts.tables import EVENT_SUMMARY, JOBS_SUMMARY
from tests.stacks.synthesized import Properties, SynthesizedStage

SEVEN = ("GSI1", "GSI2", "GSI3", "GSI4", "GSI5", "GSI6", "GSI7")
TABLES = ("state", "events", "task-definitions", "api-keys")


def table_named(synthesized: SynthesizedStage, name: str) -> Properties:
    return synthesized.one("AWS::DynamoDB::Table", TableName=synthesized.stage.data_name(name))


def keys_of(schema: list[dict[str, str]]) -> tuple[str, ...]:
    return tuple(key["AttributeName"] for key in schema)


def index_of(table: Properties, name: str) -> Any:
    (index,) = (i for i in table["GlobalSecondaryIndexes"] if i["IndexName"] == name)
    return index


def types_in(table: Properties) -> dict[str, str]:
    return {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}


@pytest.mark.parametrize("name", TABLES)
def test_tables_share_their_keys_their_billing_and_their_safety(
    synthesized: SynthesizedStage, name: str
) -> None:
    table = table_named(synthesized, name)
    assert keys_of(table["KeySchema"]) == ("PK", "SK")
    assert {types_in(table)[key] for key in ("PK", "SK")} == {"S"}
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]


def test_only_tables_of_prod_refuse_to_be_deleted(synthesized: SynthesizedStage) -> None:
    protected = {
        t.get("DeletionProtectionEnabled", False) for t in synthesized.all("AWS::DynamoDB::Table")
    }
    assert protected == {synthesized.stage.name == "prod"}


def test_events_have_exactly_seven_indexes(synthesized: SynthesizedStage) -> None:
    indexes = table_named(synthesized, "events")["GlobalSecondaryIndexes"]
    assert {index["IndexName"] for index in indexes} == {f"{name}-index" for name in SEVEN}


@pytest.mark.parametrize("index", SEVEN)
def test_events_are_found_through_each_index(synthesized: SynthesizedStage, index: str) -> None:
    table = table_named(synthesized, "events")
    found = index_of(table, f"{index}-index")
    assert keys_of(found["KeySchema"]) == (f"{index}PK", f"{index}SK")
    assert types_in(table)[f"{index}PK"] == types_in(table)[f"{index}SK"] == "S"


def test_an_entitys_history_holds_whole_events_and_listings_a_summary(
    synthesized: SynthesizedStage,
) -> None:
    table = table_named(synthesized, "events")
    assert index_of(table, "GSI1-index")["Projection"] == {"ProjectionType": "ALL"}
    for index in SEVEN[1:]:
        projection = index_of(table, f"{index}-index")["Projection"]
        assert projection["ProjectionType"] == "INCLUDE"
        assert set(projection["NonKeyAttributes"]) == set(EVENT_SUMMARY)


def test_what_may_run_is_found_by_group_and_tenant_and_by_class_and_time(
    synthesized: SynthesizedStage,
) -> None:
    table = table_named(synthesized, "state")
    index = index_of(table, "ready-index")
    assert keys_of(index["KeySchema"]) == ("ready_in", "ready_order")
    assert types_in(table)["ready_in"] == types_in(table)["ready_order"] == "S"
    assert index["Projection"] == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["queue", "definition", "priority", "lease_ms", "limits"],
    }


def test_what_is_overdue_is_found_by_shard_and_time(synthesized: SynthesizedStage) -> None:
    table = table_named(synthesized, "state")
    index = index_of(table, "due-index")
    assert keys_of(index["KeySchema"]) == ("due_shard", "due_at_ms")
    assert types_in(table)["due_shard"] == types_in(table)["due_at_ms"] == "N"
    assert index["Projection"] == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["state", "ready_at_ms", "started_at_ms"],
    }


def test_a_tenants_jobs_are_listed_without_reading_their_items(
    synthesized: SynthesizedStage,
) -> None:
    index = index_of(table_named(synthesized, "state"), "jobs-index")
    assert keys_of(index["KeySchema"]) == ("listed_under", "listed_at")
    assert set(index["Projection"]["NonKeyAttributes"]) == set(JOBS_SUMMARY)
