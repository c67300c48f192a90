"""A stage as its account shows it: what is there, what is missing, what may not be seen."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from switchyard.adapters import aws
from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import OFF_ON_PURPOSE, STACKS, Switch, SwitchKind, Workers

SERVICES = (
    "cloudformation", "ecr", "ecs", "events", "lambda", "secretsmanager", "sqs", "sts",
)  # fmt: skip
UUID = "7d9c1c1e-5b1f-4c53-9d0a-3f2f6f6f2a10"
REGISTRY = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
SERVICE_ARN = "arn:aws:ecs:eu-west-1:123456789012:service/switchyard-dev-workers/w"


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stubber]]:
    known = {"region_name": "eu-west-1", "aws_access_key_id": "x", "aws_secret_access_key": "y"}
    clients: dict[str, Any] = {name: boto3.client(name, **known) for name in SERVICES}  # type: ignore[call-overload]
    monkeypatch.setattr(aws, "client", clients.__getitem__)
    with ExitStack() as active:
        yield {name: active.enter_context(Stubber(client)) for name, client in clients.items()}


def made(stubs: dict[str, Stubber], stack: str, **resources: str) -> None:
    """Return what the stacks make in turn: nothing, but for this one."""
    for name in STACKS:
        found = resources if name == stack else {}
        summaries = [
            {
                "LogicalResourceId": "x",
                "ResourceType": kind.replace("__", "::"),
                "PhysicalResourceId": physical,
                "LastUpdatedTimestamp": 0,
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for kind, physical in found.items()
        ]
        stubs["cloudformation"].add_response(
            "list_stack_resources",
            {"StackResourceSummaries": summaries},
            {"StackName": f"switchyard-dev-{name}"},
        )


def test_missing_stacks_are_not_among_those_found(stubs: dict[str, Stubber]) -> None:
    for name in STACKS:
        if name == "event":
            stubs["cloudformation"].add_client_error("describe_stacks", "ValidationError")
            continue
        stack = {"StackName": name, "CreationTime": 0, "StackStatus": "CREATE_COMPLETE"}
        stubs["cloudformation"].add_response("describe_stacks", {"Stacks": [stack]})

    found = AwsInspection("dev").stacks()

    assert found == {name: "CREATE_COMPLETE" for name in STACKS if name != "event"}


@pytest.mark.parametrize("code", ["AccessDenied", "ExpiredToken"])
def test_what_may_not_be_seen_is_unavailable(code: str, stubs: dict[str, Stubber]) -> None:
    stubs["cloudformation"].add_client_error("describe_stacks", code)
    stubs["sts"].add_client_error("get_caller_identity", code)

    with pytest.raises(Unavailable, match=code):
        AwsInspection("dev").stacks()
    with pytest.raises(Unavailable, match=code):
        AwsInspection("dev").caller()


def test_a_secret_that_was_deleted_is_not_there(stubs: dict[str, Stubber]) -> None:
    secrets = stubs["secretsmanager"]
    secrets.add_response("describe_secret", {"Name": "a"}, {"SecretId": "a"})
    secrets.add_response("describe_secret", {"Name": "b", "DeletedDate": 0}, {"SecretId": "b"})
    secrets.add_client_error("describe_secret", "ResourceNotFoundException")
    inspection = AwsInspection("dev")

    assert [inspection.has_secret(name) for name in "abc"] == [True, False, False]


@pytest.mark.parametrize("exists", [True, False])
def test_workers_and_their_image(exists: bool, stubs: dict[str, Stubber]) -> None:
    made(stubs, "consumer", AWS__ECS__Service=SERVICE_ARN)
    service = {"desiredCount": 2, "runningCount": 1, "taskDefinition": "worker:7"}
    stubs["ecs"].add_response(
        "describe_services",
        {"services": [service]},
        {"cluster": "switchyard-dev-workers", "services": [SERVICE_ARN]},
    )
    image = f"{REGISTRY}/assets:abc"
    stubs["ecs"].add_response(
        "describe_task_definition",
        {"taskDefinition": {"containerDefinitions": [{"image": image}]}},
        {"taskDefinition": "worker:7"},
    )
    if exists:
        asked = {
            "registryId": "123456789012",
            "repositoryName": "assets",
            "imageIds": [{"imageTag": "abc"}],
        }
        stubs["ecr"].add_response("describe_images", {"imageDetails": [{}]}, asked)
    else:
        stubs["ecr"].add_client_error("describe_images", "ImageNotFoundException")

    assert AwsInspection("dev").workers() == Workers(
        wanted=2, running=1, image=image, image_exists=exists
    )


def test_a_stage_without_a_service_has_no_workers(stubs: dict[str, Stubber]) -> None:
    made(stubs, "consumer")

    assert AwsInspection("dev").workers() is None


def listed(stubs: dict[str, Stubber], *, ours: list[Any], shared: list[Any]) -> None:
    events = stubs["events"]
    events.add_response("list_rules", {"Rules": ours}, {"EventBusName": "switchyard-dev"})
    events.add_response("list_rules", {"Rules": shared}, {"NamePrefix": "switchyard-dev-"})


def test_rules_and_mappings_are_on_or_off(stubs: dict[str, Stubber]) -> None:
    every_minute = {
        "Name": "every-minute", "State": "ENABLED", "ScheduleExpression": "rate(1 minute)",
    }  # fmt: skip
    listed(stubs, ours=[], shared=[every_minute])
    made(stubs, "health-check", AWS__Events__Rule="every-minute")
    made(stubs, "event", AWS__Lambda__EventSourceMapping=UUID)
    mapping = {
        "State": "Disabled",
        "FunctionArn": "arn:aws:lambda:eu-west-1:123456789012:function:save",
        "EventSourceArn": "arn:aws:sqs:eu-west-1:123456789012:switchyard-dev-event-queue",
    }
    stubs["lambda"].add_response("get_event_source_mapping", mapping, {"UUID": UUID})

    assert AwsInspection("dev").switches() == [
        Switch("every-minute", SwitchKind.SCHEDULE, on=True),
        Switch("switchyard-dev-event-queue to save", SwitchKind.SUBSCRIPTION, on=False),
    ]


@pytest.mark.parametrize(
    ("description", "findings"),
    [("Wakes the sweeper.", 1), (f"{OFF_ON_PURPOSE} Finds stuck tasks.", 0)],
    ids=["forgotten", "off on purpose"],
)
def test_a_schedule_that_the_stage_does_without_is_not_missed(
    description: str, findings: int, stubs: dict[str, Stubber]
) -> None:
    off = {"State": "DISABLED", "ScheduleExpression": "rate(5 minutes)"}
    listed(stubs, ours=[], shared=[{"Name": "often", "Description": description, **off}])
    made(stubs, "health-check", AWS__Events__Rule="often")
    made(stubs, "event")

    switches = AwsInspection("dev").switches()

    assert switches == [Switch("often", SwitchKind.SCHEDULE, on=False)] * findings


@pytest.mark.parametrize(
    ("rules", "on"),
    [
        ([{"Name": "every-event", "State": "ENABLED"}], True),
        ([{"Name": "every-event", "State": "DISABLED"}], False),
        ([], False),
    ],
    ids=["on", "off", "gone"],
)
def test_a_rule_of_our_bus(rules: list[Any], on: bool, stubs: dict[str, Stubber]) -> None:
    listed(stubs, ours=rules, shared=[])
    made(stubs, "event", AWS__Events__Rule="switchyard-dev|every-event")
    made(stubs, "event")

    (switch,) = AwsInspection("dev").switches()

    assert switch == Switch("every-event", SwitchKind.SUBSCRIPTION, on=on)


def test_a_stage_without_stacks_and_bus_has_nothing_to_switch(stubs: dict[str, Stubber]) -> None:
    stubs["events"].add_client_error("list_rules", "ResourceNotFoundException")
    stubs["events"].add_response("list_rules", {"Rules": []}, {"NamePrefix": "switchyard-dev-"})
    for _ in range(2 * len(STACKS)):
        stubs["cloudformation"].add_client_error("list_stack_resources", "ValidationError")

    assert AwsInspection("dev").switches() == []


def test_only_dead_letters_are_counted(stubs: dict[str, Stubber]) -> None:
    url = "https://sqs.eu-west-1.amazonaws.com/123456789012/switchyard-dev-task-queue-dlq"
    made(stubs, "infrastructure", AWS__SQS__Queue=url)
    count = "ApproximateNumberOfMessages"
    stubs["sqs"].add_response(
        "get_queue_attributes",
        {"Attributes": {count: "3"}},
        {"QueueUrl": url, "AttributeNames": [count]},
    )

    assert AwsInspection("dev").dead_letters() == {"switchyard-dev-task-queue-dlq": 3}
