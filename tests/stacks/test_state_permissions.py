"""Who may touch which items: API keys, tenants' settings, what counts open tasks."""

from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedStage
from tests.stacks.test_permissions import MAY, listed, statements, statements_of


def holders_of(synthesized: SynthesizedStage, table: str) -> dict[str, set[str]]:
    """What each policy allows on a table or its indexes, by the policy's name."""
    arn = synthesized.one("AWS::DynamoDB::Table", TableName=synthesized.stage.data_name(table))
    return {
        policy["PolicyName"]: actions
        for policy in synthesized.all("AWS::IAM::Policy")
        if (
            actions := {
                action
                for statement in policy["PolicyDocument"]["Statement"]
                for resource in listed(statement["Resource"])
                if is_of(synthesized, resource, arn)
                for action in listed(statement["Action"])
            }
        )
    }


def is_of(synthesized: SynthesizedStage, resource: Any, table: Any) -> bool:
    """Whether a policy's resource is the table, or an index of it."""
    parts = resource["Fn::Join"][1] if "Fn::Join" in resource else [resource]
    references = [part for part in parts if "Fn::ImportValue" in part or "Fn::GetAtt" in part]
    return any(synthesized.imported(reference) == table for reference in references)


def test_no_role_but_the_authorizers_has_anything_to_do_with_api_keys(
    synthesized: SynthesizedStage,
) -> None:
    ((holder, actions),) = holders_of(synthesized, "api-keys").items()
    assert holder.startswith("Authorize")
    assert actions == {"dynamodb:GetItem", "dynamodb:UpdateItem"}
    assert len(holders_of(synthesized, "state")) > 5


def test_the_authorizer_has_nothing_to_do_with_state(synthesized: SynthesizedStage) -> None:
    assert not [h for h in holders_of(synthesized, "state") if h.startswith("Authorize")]


def test_nothing_in_the_state_table_is_deleted_but_counts_of_open_tasks_and_subscriptions(
    synthesized: SynthesizedStage,
) -> None:
    deleting = [s for s in statements(synthesized) if "dynamodb:DeleteItem" in listed(s["Action"])]
    (matching,) = (s for s in deleting if "dynamodb:Query" in listed(s["Action"]))
    assert matching["Condition"] == {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#*#SIGNALS#*"]}
    }
    deleting.remove(matching)
    assert len(deleting) == 4
    for statement in deleting:
        assert listed(statement["Action"]) == ["dynamodb:DeleteItem"]
        assert statement["Condition"] == {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#*#OPEN"]}
        }


@pytest.mark.parametrize("holder", MAY)
def test_nobody_but_operators_writes_tenants_settings(
    synthesized: SynthesizedStage, holder: str
) -> None:
    """A condition that no such partition meets forbids it, or a denial."""
    on_state = [s for s in statements_of(synthesized, holder) if writes_state(synthesized, s)]
    denied = [s for s in on_state if s["Effect"] == "Deny"]
    where = {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["TENANT#*#SETTINGS"]}}
    assert all(statement["Condition"] == where for statement in denied)
    for statement in on_state:
        patterns = str(statement.get("Condition", "TENANT#*#SETTINGS"))
        assert statement in denied or denied or "SETTINGS" not in patterns


def writes_state(synthesized: SynthesizedStage, statement: Any) -> bool:
    table = synthesized.one("AWS::DynamoDB::Table", TableName=synthesized.stage.data_name("state"))
    writing = {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"}
    return bool(writing & set(listed(statement["Action"]))) and any(
        is_of(synthesized, resource, table) for resource in listed(statement["Resource"])
    )
