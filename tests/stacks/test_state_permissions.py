"""Who may touch which items: API keys, tenants' settings, what counts open tasks."""

from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedYard
from tests.stacks.test_permissions import MAY, listed, statements, statements_of


def holders_of(yard: SynthesizedYard, table: str) -> dict[str, set[str]]:
    """What each policy allows on a table or its indexes, by the policy's name."""
    arn = yard.one("AWS::DynamoDB::Table", TableName=yard.stage.data_name(table))
    return {
        policy["PolicyName"]: actions
        for policy in yard.all("AWS::IAM::Policy")
        if (
            actions := {
                action
                for statement in policy["PolicyDocument"]["Statement"]
                for resource in listed(statement["Resource"])
                if is_of(yard, resource, arn)
                for action in listed(statement["Action"])
            }
        )
    }


def is_of(yard: SynthesizedYard, resource: Any, table: Any) -> bool:
    """Whether a policy's resource is the table, or an index of it."""
    parts = resource["Fn::Join"][1] if "Fn::Join" in resource else [resource]
    references = [part for part in parts if "Fn::ImportValue" in part or "Fn::GetAtt" in part]
    return any(yard.imported(reference) == table for reference in references)


def test_no_role_but_the_authorizers_has_anything_to_do_with_api_keys(
    yard: SynthesizedYard,
) -> None:
    ((holder, actions),) = holders_of(yard, "api-keys").items()
    assert holder.startswith("Authorize")
    assert actions == {"dynamodb:GetItem", "dynamodb:UpdateItem"}
    assert len(holders_of(yard, "state")) > 5


def test_the_authorizer_has_nothing_to_do_with_state(yard: SynthesizedYard) -> None:
    assert not [h for h in holders_of(yard, "state") if h.startswith("Authorize")]


def test_nothing_in_the_state_table_is_deleted_but_what_counts_open_tasks(
    yard: SynthesizedYard,
) -> None:
    deleting = [s for s in statements(yard) if "dynamodb:DeleteItem" in listed(s["Action"])]
    assert len(deleting) == 4
    for statement in deleting:
        assert listed(statement["Action"]) == ["dynamodb:DeleteItem"]
        assert statement["Condition"] == {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#*#OPEN"]}
        }


@pytest.mark.parametrize("holder", MAY)
def test_nobody_but_operators_writes_tenants_settings(yard: SynthesizedYard, holder: str) -> None:
    """By a condition that no such partition meets, or by a denial."""
    on_state = [s for s in statements_of(yard, holder) if writes_state(yard, s)]
    denied = [s for s in on_state if s["Effect"] == "Deny"]
    where = {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["TENANT#*#SETTINGS"]}}
    assert all(statement["Condition"] == where for statement in denied)
    for statement in on_state:
        patterns = str(statement.get("Condition", "TENANT#*#SETTINGS"))
        assert statement in denied or denied or "SETTINGS" not in patterns


def writes_state(yard: SynthesizedYard, statement: Any) -> bool:
    table = yard.one("AWS::DynamoDB::Table", TableName=yard.stage.data_name("state"))
    writing = {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"}
    return bool(writing & set(listed(statement["Action"]))) and any(
        is_of(yard, resource, table) for resource in listed(statement["Resource"])
    )
