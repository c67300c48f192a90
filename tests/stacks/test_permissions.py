"""The local cloud does not enforce permissions, so what each role may do is asserted here."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stacks.synthesized import SynthesizedStage

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
        "dynamodb:Query",
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
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "s3:GetObject",
        "s3:ListBucket",
        "secretsmanager:GetSecretValue",
    },
    "answer-slack": {
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:GetObject",
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
    "match-signals": CONSUMING
    | {
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
        "dynamodb:ConditionCheckItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "events:PutEvents",
        "s3:GetObject",
        "s3:PutObject",
        "sqs:GetQueueAttributes",
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
        "events:DeleteRule",
        "events:DescribeRule",
        "events:PutEvents",
        "events:PutRule",
        "events:PutTargets",
        "events:RemoveTargets",
        "s3:GetObject",
        "s3:ListBucket",
        "s3:PutObject",
        "sqs:GetQueueUrl",
        "sqs:SendMessage",
    },
    "worker": {
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "ecs:DescribeServices",
        "ecs:UpdateTaskProtection",
        "events:PutEvents",
        "s3:GetObject",
        "s3:ListBucket",
        "s3:PutObject",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:ReceiveMessage",
        "sqs:SendMessage",
    },
}


def statements(synthesized: SynthesizedStage) -> Iterator[Any]:
    for policy in synthesized.all("AWS::IAM::Policy"):
        yield from policy["PolicyDocument"]["Statement"]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements_of(synthesized: SynthesizedStage, holder: str) -> Iterator[Any]:
    role = {"Ref": role_of(synthesized, holder)["Fn::GetAtt"][0]}
    for policy in synthesized.all("AWS::IAM::Policy"):
        if role in policy["Roles"]:
            yield from policy["PolicyDocument"]["Statement"]


def actions_of(synthesized: SynthesizedStage, holder: str) -> set[str]:
    return {
        action
        for statement in statements_of(synthesized, holder)
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
    }


def role_of(synthesized: SynthesizedStage, holder: str) -> Any:
    name = synthesized.stage.prefixed(holder)
    if holder == "worker":
        return synthesized.one("AWS::ECS::TaskDefinition", Family=name)["TaskRoleArn"]
    return synthesized.one("AWS::Lambda::Function", FunctionName=name)["Role"]


@pytest.mark.parametrize("holder", MAY)
def test_a_role_may_do_what_its_code_does_and_nothing_else(
    synthesized: SynthesizedStage, holder: str
) -> None:
    assert actions_of(synthesized, holder) - LOGGING - TRACING == MAY[holder]


def test_the_alert_function_writes_parked_messages_alone(synthesized: SynthesizedStage) -> None:
    """Code of version 0.1.0 writes below the other prefix until the deployment replaces it."""
    (places,) = (
        statement["Resource"]
        for statement in statements_of(synthesized, "alert")
        if statement["Action"] == "s3:PutObject"
    )
    written = [place["Fn::Join"][1] for place in places]
    for bucket, _ in written:
        assert synthesized.imported(bucket) == synthesized.one("AWS::S3::Bucket")
    assert [keys for _, keys in written] == ["/parked/*", "/undeliverable/*"]


def test_who_answers_slack_writes_jobs_and_what_it_has_heard_and_nothing_else(
    synthesized: SynthesizedStage,
) -> None:
    written = {
        statement["Action"]: statement["Condition"]["ForAllValues:StringLike"]
        for statement in statements_of(synthesized, "answer-slack")
        if statement["Action"] in ("dynamodb:PutItem", "dynamodb:UpdateItem")
    }
    assert written == {
        "dynamodb:PutItem": {"dynamodb:LeadingKeys": ["ONCE#*"]},
        "dynamodb:UpdateItem": {"dynamodb:LeadingKeys": ["TENANT#*#JOB#*"]},
    }


@pytest.mark.parametrize("holder", ["answer-slack", "api", "start-triggered"])
def test_who_accepts_jobs_wakes_the_dispatcher_and_nobody_else(
    synthesized: SynthesizedStage, holder: str
) -> None:
    (queues,) = (
        statement["Resource"]
        for statement in statements_of(synthesized, holder)
        if statement["Action"] == "sqs:SendMessage"
    )
    names = [synthesized.imported(queue)["QueueName"] for queue in queues]
    assert names == [synthesized.stage.data_name(name) for name in ("dispatch-queue", "job-queue")]


@pytest.mark.parametrize("holder", ["worker", "process-dead-letters", "start-triggered"])
@pytest.mark.parametrize("prefix", ["parked", "quarantine"])
def test_parked_messages_are_written_and_never_read(
    synthesized: SynthesizedStage, holder: str, prefix: str
) -> None:
    allowed = [
        statement["Action"]
        for statement in statements_of(synthesized, holder)
        if f"/{prefix}/*" in str(statement["Resource"])
    ]
    assert allowed == ["s3:PutObject"]


def test_only_actions_that_take_no_resource_are_allowed_on_everything(
    synthesized: SynthesizedStage,
) -> None:
    on_everything = {
        action
        for statement in statements(synthesized)
        if "*" in listed(statement["Resource"])
        for action in listed(statement["Action"])
    }
    assert on_everything <= WITHOUT_RESOURCE


def test_no_action_is_a_pattern(synthesized: SynthesizedStage) -> None:
    actions = [a for statement in statements(synthesized) for a in listed(statement["Action"])]
    assert not [action for action in actions if "*" in action]


def test_no_role_has_a_policy_that_aws_manages(synthesized: SynthesizedStage) -> None:
    assert not [role for role in synthesized.all("AWS::IAM::Role") if role.get("ManagedPolicyArns")]


@pytest.mark.parametrize("name", ["api", "worker"])
def test_nobody_lists_more_of_the_bucket_than_what_tasks_left(
    synthesized: SynthesizedStage, name: str
) -> None:
    (listing,) = (
        statement
        for statement in statements_of(synthesized, name)
        if statement["Action"] == "s3:ListBucket"
    )
    assert listing["Condition"] == {"StringLike": {"s3:prefix": "task/logs/*"}}
    assert synthesized.imported(listing["Resource"]) == synthesized.one("AWS::S3::Bucket")
