"""What a role may do, said in actions: the library's grants give more than we use."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from switchyard.contracts.tables import ALERTS_PARTITION, api_keys_partition

API_KEYS = {"dynamodb:LeadingKeys": [api_keys_partition("*")]}


def allow(grantee: iam.IGrantable, *actions: str, on: Sequence[str]) -> None:
    iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=list(on))


def allow_on_api_keys(role: iam.IRole, *actions: str, state_table: str) -> None:
    """Of the state table, those items alone."""
    iam.Grant.add_to_principal(
        grantee=role,
        actions=list(actions),
        resource_arns=[state_table],
        conditions={"ForAllValues:StringLike": API_KEYS},
    )


def allow_on_alerts(role: iam.IRole, *actions: str, state_table: str) -> None:
    """Of the state table, what people were told, and nothing else."""
    iam.Grant.add_to_principal(
        grantee=role,
        actions=list(actions),
        resource_arns=[state_table],
        conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [ALERTS_PARTITION]}},
    )


def allow_on_partitions(
    role: iam.IRole, *actions: str, state_table: str, partitions: Sequence[str]
) -> None:
    """Of the state table, items of these alone; `*` stands for the rest of a name."""
    iam.Grant.add_to_principal(
        grantee=role,
        actions=list(actions),
        resource_arns=[state_table],
        conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions)}},
    )


def keep_from_api_keys(role: iam.IRole, *, state_table: str) -> None:
    """Whoever may write other items of the state table shall not make itself a key."""
    role.add_to_principal_policy(
        iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=["dynamodb:PutItem", "dynamodb:UpdateItem"],
            resources=[state_table],
            conditions={"ForAnyValue:StringLike": API_KEYS},
        )
    )


def acknowledge(scope: IConstruct, rule: str, *, because: str) -> None:
    """Accept a security finding on everything below `scope`."""
    Validations.of(scope).acknowledge(Acknowledgment(id=rule, reason=because))


def acknowledge_wildcard(scope: IConstruct, resource: str, *, because: str) -> None:
    """`resource` as the finding quotes it: references stand in angle brackets."""
    acknowledge(scope, f"AwsSolutions-IAM5[Resource::{resource}]", because=because)
