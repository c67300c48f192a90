"""What a role may do, said in actions: the library's grants give more than we use."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct


def allow(grantee: iam.IGrantable, *actions: str, on: Sequence[str]) -> None:
    iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=list(on))


def acknowledge(scope: IConstruct, rule: str, *, because: str) -> None:
    """Accept a security finding on everything below `scope`."""
    Validations.of(scope).acknowledge(Acknowledgment(id=rule, reason=because))


def acknowledge_wildcard(scope: IConstruct, resource: str, *, because: str) -> None:
    """`resource` as the finding quotes it: references stand in angle brackets."""
    acknowledge(scope, f"AwsSolutions-IAM5[Resource::{resource}]", because=because)
