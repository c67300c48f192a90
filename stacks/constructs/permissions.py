"""Grants a role single actions: the library's own grants give more than we use."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from switchyard.contracts.tables import (
    ALERTS_PARTITION,
    READY_INDEX,
    group_partition,
    limit_partition,
    open_jobs_partition,
    tenant_settings_partition,
)


def allow(grantee: iam.IGrantable, *actions: str, on: Sequence[str]) -> None:
    iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=list(on))


def allow_on_alerts(role: iam.IRole, *actions: str, state_table: str) -> None:
    """Allow actions on the alerts of the state table, and on nothing else."""
    iam.Grant.add_to_principal(
        grantee=role,
        actions=list(actions),
        resource_arns=[state_table],
        conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [ALERTS_PARTITION]}},
    )


def allow_on_partitions(
    role: iam.IRole,
    *actions: str,
    state_table: str,
    partitions: Sequence[str],
    attributes: Sequence[str] = (),
) -> None:
    """Allow the actions on items of these partitions alone; `*` stands for the rest of a name.

    With `attributes`, a request may name no other: neither to write them nor in a condition. What
    a request returns is not compared, and no condition key names an item's sort key.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    """
    named = {"dynamodb:Attributes": list(attributes)} if attributes else {}
    iam.Grant.add_to_principal(
        grantee=role,
        actions=list(actions),
        resource_arns=[state_table],
        conditions={
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions)},
            **({"ForAllValues:StringEquals": named} if named else {}),
        },
    )


def allow_choosing(role: iam.IRole, *, state_table: str) -> None:
    """Allow what choosing a task needs: the ready index, and the clocks of a group's tenants."""
    allow(role, "dynamodb:Query", on=[f"{state_table}/index/{READY_INDEX}"])
    allow_on_partitions(
        role,
        *("dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"),
        state_table=state_table,
        partitions=[group_partition("*")],
    )


def allow_places(role: iam.IRole, *, state_table: str) -> None:
    """Allow to take places of limits, and to give them back."""
    allow_on_partitions(
        role,
        *("dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:UpdateItem"),
        state_table=state_table,
        partitions=[limit_partition("*", "*")],
    )


def allow_closing_jobs(role: iam.IRole, *, state_table: str) -> None:
    """Allow to count a job no more: nothing else of a job is deleted from the state table."""
    allow_on_partitions(
        role,
        "dynamodb:DeleteItem",
        state_table=state_table,
        partitions=[open_jobs_partition("*")],
    )


def keep_from_tenant_settings(role: iam.IRole, *, state_table: str) -> None:
    """Deny writing what operators set for tenants to a role that may write other items."""
    role.add_to_principal_policy(
        iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=["dynamodb:PutItem", "dynamodb:UpdateItem"],
            resources=[state_table],
            conditions={
                "ForAnyValue:StringLike": {"dynamodb:LeadingKeys": [tenant_settings_partition("*")]}
            },
        )
    )


def acknowledge(scope: IConstruct, rule: str, *, because: str) -> None:
    """Accept a security finding on everything below `scope`."""
    Validations.of(scope).acknowledge(Acknowledgment(id=rule, reason=because))


def acknowledge_wildcard(scope: IConstruct, resource: str, *, because: str) -> None:
    """Acknowledge a finding; `resource` is as it quotes it: references stand in angle brackets."""
    acknowledge(scope, f"AwsSolutions-IAM5[Resource::{resource}]", because=because)
