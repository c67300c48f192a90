"""The local cloud does not enforce permissions, so what each role may do is asserted here."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedYard

WITHOUT_RESOURCE = {
    "ecr:GetAuthorizationToken",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}
LOGGING = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACING = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
CONSUMING = {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}
MAY: dict[str, set[str]] = {
    "process-dead-letters": CONSUMING
    | {
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:GetObject",
        "s3:PutObject",
        "sqs:SendMessage",
    },
    "alert": CONSUMING | {"s3:PutObject"},
    "notify": CONSUMING
    | {
        "cloudwatch:DescribeAlarms",
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "s3:GetObject",
        "s3:ListBucket",
        "secretsmanager:GetSecretValue",
    },
    "answer-slack": {
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "s3:PutObject",
        "secretsmanager:GetSecretValue",
        "sqs:SendMessage",
    },
    "measure": {
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "sqs:GetQueueAttributes",
    },
    "save-event": CONSUMING | {"dynamodb:PutItem", "dynamodb:UpdateItem"},
    "dispatch": CONSUMING
    | {
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:GetObject",
        "s3:PutObject",
        "sqs:SendMessage",
    },
    "start-triggered": CONSUMING
    | {
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:PutObject",
        "sqs:SendMessage",
    },
    "sweep": {
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:GetObject",
        "s3:PutObject",
        "sqs:GetQueueUrl",
        "sqs:SendMessage",
    },
    "authorize": {"dynamodb:GetItem", "dynamodb:UpdateItem"},
    "check-health": {
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:PutObject",
        "secretsmanager:GetSecretValue",
    },
    "api": {
        "dynamodb:BatchGetItem",
        "dynamodb:ConditionCheckItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:GetObject",
        "s3:ListBucket",
        "s3:PutObject",
        "sqs:SendMessage",
    },
    "worker": {
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        "ecs:DescribeServices",
        "ecs:UpdateTaskProtection",
        "events:PutEvents",
        "s3:GetObject",
        "s3:PutObject",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:ReceiveMessage",
        "sqs:SendMessage",
    },
}


def statements(yard: SynthesizedYard) -> Iterator[Any]:
    for policy in yard.all("AWS::IAM::Policy"):
        yield from policy["PolicyDocument"]["Statement"]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements_of(yard: SynthesizedYard, holder: str) -> Iterator[Any]:
    role = {"Ref": role_of(yard, holder)["Fn::GetAtt"][0]}
    for policy in yard.all("AWS::IAM::Policy"):
        if role in policy["Roles"]:
            yield from policy["PolicyDocument"]["Statement"]


def actions_of(yard: SynthesizedYard, holder: str) -> set[str]:
    return {
        action
        for statement in statements_of(yard, holder)
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
    }


def role_of(yard: SynthesizedYard, holder: str) -> Any:
    name = yard.stage.prefixed(holder)
    if holder == "worker":
        return yard.one("AWS::ECS::TaskDefinition", Family=name)["TaskRoleArn"]
    return yard.one("AWS::Lambda::Function", FunctionName=name)["Role"]


@pytest.mark.parametrize("holder", MAY)
def test_a_role_may_do_what_its_code_does_and_nothing_else(
    yard: SynthesizedYard, holder: str
) -> None:
    assert actions_of(yard, holder) - LOGGING - TRACING == MAY[holder]


def test_the_alert_function_writes_below_one_prefix_of_the_bucket(yard: SynthesizedYard) -> None:
    (written,) = (
        statement["Resource"]["Fn::Join"][1]
        for statement in statements_of(yard, "alert")
        if statement["Action"] == "s3:PutObject"
    )
    bucket, keys = written
    assert yard.imported(bucket) == yard.one("AWS::S3::Bucket")
    assert keys == "/undeliverable/*"


def test_who_answers_slack_writes_jobs_and_what_it_has_heard_and_nothing_else(
    yard: SynthesizedYard,
) -> None:
    written = {
        statement["Action"]: statement["Condition"]["ForAllValues:StringLike"]
        for statement in statements_of(yard, "answer-slack")
        if statement["Action"] in ("dynamodb:PutItem", "dynamodb:UpdateItem")
    }
    assert written == {
        "dynamodb:PutItem": {"dynamodb:LeadingKeys": ["ONCE#*"]},
        "dynamodb:UpdateItem": {"dynamodb:LeadingKeys": ["TENANT#*#JOB#*"]},
    }


@pytest.mark.parametrize("holder", ["answer-slack", "api", "start-triggered"])
def test_who_accepts_jobs_wakes_the_dispatcher_and_nobody_else(
    yard: SynthesizedYard, holder: str
) -> None:
    (queues,) = (
        statement["Resource"]
        for statement in statements_of(yard, holder)
        if statement["Action"] == "sqs:SendMessage"
    )
    names = [yard.imported(queue)["QueueName"] for queue in queues]
    assert names == [yard.stage.data_name(name) for name in ("dispatch-queue", "job-queue")]


@pytest.mark.parametrize("holder", ["worker", "process-dead-letters", "start-triggered"])
def test_what_is_put_aside_is_written_and_never_read(yard: SynthesizedYard, holder: str) -> None:
    on_quarantine = [
        statement["Action"]
        for statement in statements_of(yard, holder)
        if "/quarantine/*" in str(statement["Resource"])
    ]
    assert on_quarantine == ["s3:PutObject"]


def test_only_actions_that_take_no_resource_are_allowed_on_everything(
    yard: SynthesizedYard,
) -> None:
    on_everything = {
        action
        for statement in statements(yard)
        if "*" in listed(statement["Resource"])
        for action in listed(statement["Action"])
    }
    assert on_everything <= WITHOUT_RESOURCE


def test_no_action_is_a_pattern(yard: SynthesizedYard) -> None:
    actions = [a for statement in statements(yard) for a in listed(statement["Action"])]
    assert not [action for action in actions if "*" in action]


def test_no_role_has_a_policy_that_aws_manages(yard: SynthesizedYard) -> None:
    assert not [role for role in yard.all("AWS::IAM::Role") if role.get("ManagedPolicyArns")]


def test_the_api_lists_no_more_of_the_bucket_than_what_tasks_left(yard: SynthesizedYard) -> None:
    (listing,) = (
        statement
        for statement in statements_of(yard, "api")
        if statement["Action"] == "s3:ListBucket"
    )
    assert listing["Condition"] == {"StringLike": {"s3:prefix": "task/logs/*"}}
    assert yard.imported(listing["Resource"]) == yard.one("AWS::S3::Bucket")
