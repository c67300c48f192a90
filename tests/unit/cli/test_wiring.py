"""The real outside, as far as it can be had without a network."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Literal

import boto3
import pytest
from botocore.stub import ANY, Stubber

from switchyard.adapters import aws
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.bootstrap import inspection
from switchyard.contracts.parked_messages import ParkedMessage, UnreadableObject
from switchyard.contracts.triggers import AppliedTrigger
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.health import HealthLimits
from switchyard.domain.health.presence import Pause
from switchyard.domain.measuring.measures import Measurement
from switchyard_cli.wiring import real_services


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody without a region and credentials."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


def ask_for_a_url() -> str:
    return real_services().deployed_url("dev")


def ask_for_a_key() -> str:
    with real_services().api_keys("dev", None) as keys:
        return keys.issue("acme")


def ask_for_letters() -> list[ParkedMessage | UnreadableObject]:
    with real_services().parked_messages("dev", None) as letters:
        return letters.newest(1)


def ask_for_the_brake() -> Pause | None:
    with real_services().pause_switch("dev", None) as pause_switch:
        return pause_switch.paused()


def ask_for_triggers() -> Sequence[AppliedTrigger]:
    with real_services().triggers("dev", None) as operator:
        return operator.all("acme")


def ask_for_numbers() -> Measurement:
    with real_services().measurer("dev", None) as measurer:
        return measurer.measure(window_ms=60_000)


def ask_how_tasks_are() -> HealthLimits:
    with real_services().checker("dev", None) as checker:
        return checker.limits


def ask_what_a_task_prints() -> Sequence[str]:
    with real_services().task_output("dev", None, "job-1__a", 0) as output:
        return output.news()


def ask_who_looks() -> str:
    return real_services().examiner("dev", " --stage dev", None).inspection.caller()


ASKS = [
    ask_for_a_url,
    ask_for_a_key,
    ask_for_letters,
    ask_for_the_brake,
    ask_how_tasks_are,
    ask_for_numbers,
    ask_for_triggers,
    ask_what_a_task_prints,
    ask_who_looks,
]


@pytest.mark.parametrize("ask", ASKS)
def test_without_a_region_a_stage_is_out_of_reach(ask: Callable[[], object]) -> None:
    with pytest.raises(Unavailable, match="region"):
        ask()


@pytest.mark.parametrize("ask", ASKS)
def test_without_credentials_a_stage_is_out_of_reach(
    ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    with pytest.raises(Unavailable, match="credentials"):
        ask()


Service = Literal["cloudformation", "dynamodb", "s3", "sqs"]


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stubber]]:
    services: tuple[Service, ...] = ("cloudformation", "dynamodb", "s3", "sqs")
    clients: dict[str, Any] = {
        name: boto3.client(name, region_name="eu-central-1") for name in services
    }
    monkeypatch.setattr(aws, "client", clients.__getitem__)
    with ExitStack() as active:
        yield {name: active.enter_context(Stubber(client)) for name, client in clients.items()}


def deployed(stubs: dict[str, Stubber], name: str, *, output: str = "StateTableName") -> None:
    stack = {
        "StackName": "switchyard-dev-infrastructure",
        "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
        "StackStatus": "CREATE_COMPLETE",
        "Outputs": [{"OutputKey": output, "OutputValue": name}],
    }
    stubs["cloudformation"].add_response(
        "describe_stacks", {"Stacks": [stack]}, {"StackName": "switchyard-dev-infrastructure"}
    )


def test_a_key_is_issued_in_the_table_that_the_stack_names(stubs: dict[str, Stubber]) -> None:
    deployed(stubs, "the-table", output="ApiKeysTableName")
    stubs["dynamodb"].add_response(
        "put_item",
        {},
        {
            "TableName": "the-table",
            "Item": ANY,
            "ConditionExpression": ANY,
            "ExpressionAttributeNames": ANY,
        },
    )

    assert "acme" in ask_for_a_key()


@pytest.mark.parametrize("code", ["AccessDeniedException", "ResourceNotFoundException"])
def test_a_table_that_does_not_let_us_in_is_out_of_reach(
    code: str, stubs: dict[str, Stubber]
) -> None:
    deployed(stubs, "the-table", output="ApiKeysTableName")
    stubs["dynamodb"].add_client_error("put_item", code)

    with pytest.raises(Unavailable, match=code):
        ask_for_a_key()


def test_a_stage_that_is_not_deployed_is_out_of_reach(stubs: dict[str, Stubber]) -> None:
    stubs["cloudformation"].add_client_error("describe_stacks", "ValidationError")

    with pytest.raises(Unavailable, match="ValidationError"):
        ask_for_a_key()


def test_letters_are_looked_for_in_the_bucket_that_the_stack_names(
    stubs: dict[str, Stubber],
) -> None:
    deployed(stubs, "the-bucket", output="ArtifactsBucketName")
    for place in ("parked/", "quarantine/", "undeliverable/"):
        asked = {"Bucket": "the-bucket", "Prefix": place}
        stubs["s3"].add_response("list_objects_v2", {}, asked)

    assert ask_for_letters() == []


def test_a_bucket_that_does_not_let_us_in_is_out_of_reach(stubs: dict[str, Stubber]) -> None:
    deployed(stubs, "the-bucket", output="ArtifactsBucketName")
    stubs["s3"].add_client_error("list_objects_v2", "AccessDenied")

    with pytest.raises(Unavailable, match="AccessDenied"):
        ask_for_letters()


def test_tasks_are_judged_by_the_limits_that_the_stack_names(
    stubs: dict[str, Stubber], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = {
        "StateTableName": "switchyard-dev-state",
        "TaskDefinitionsTableName": "definitions-dev",
        "HealthLimits": '{"overtime_ms": 7000, "repeats": 3}',
    }
    monkeypatch.setattr(CloudFormationOutputs, "of", lambda _, _stack, output: reported[output])
    monkeypatch.setattr(inspection, "deployed_pools", lambda _stage: ())

    assert ask_how_tasks_are() == HealthLimits(overtime_ms=7_000, repeats=3)


@pytest.mark.slow
def test_what_needs_no_aws_does_not_wait_for_boto3() -> None:
    script = (
        "import sys; from switchyard_cli.wiring import real_services; real_services();"
        "sys.exit('boto3' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
