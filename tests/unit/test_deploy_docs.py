"""The runbook's script deletes one tenant's data and nobody else's."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.fakes.tables import a_table

RUNBOOK = Path(__file__).parents[2] / "docs" / "deploy.md"
REGION = "us-east-1"
TABLES = {
    "StateTableName": "switchyard-dev-state",
    "TaskDefinitionsTableName": "switchyard-dev-task-definitions",
    "EventsTableName": "switchyard-dev-events",
    "ApiKeysTableName": "switchyard-dev-api-keys",
}


class Stacks:
    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803 - boto3's
        assert StackName == "switchyard-dev-infrastructure"
        named = {"ArtifactsBucketName": "artifacts", **TABLES}
        outputs = [{"OutputKey": key, "OutputValue": name} for key, name in named.items()]
        return {"Stacks": [{"Outputs": outputs}]}


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Return a stage with two tenants; the name of one begins like that of the other."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        boto3.setup_default_session(region_name=REGION)
        for tenant, job in (("acme", "job-1"), ("acme-inc", "job-10")):
            fill(tenant, job)
        client = boto3.client
        monkeypatch.setattr(
            boto3, "client", lambda name: Stacks() if name == "cloudformation" else client(name)
        )
        yield
    boto3.DEFAULT_SESSION = None


def fill(tenant: str, job: str) -> None:
    dynamodb, s3 = boto3.client("dynamodb"), boto3.client("s3")
    items: dict[str, list[tuple[str, str, str | None]]] = {
        "switchyard-dev-state": [
            (f"TENANT#{tenant}#JOB#{job}", "JOB", None),
            (f"TENANT#{tenant}#JOB#{job}", "TASK#a", None),
            (f"TENANT#{tenant}#JOB#~bare-{job}", "TASK#bare", None),
        ],
        "switchyard-dev-api-keys": [(f"TENANT#{tenant}#APIKEYS", "KEY#0", None)],
        "switchyard-dev-task-definitions": [(f"TENANT#{tenant}", "LATEST#do", None)],
        "switchyard-dev-events": [(f"TENANT#{tenant}", "TIMESTAMP#1", f"{job}__a")],
    }
    for name, keys in items.items():
        if name not in dynamodb.list_tables()["TableNames"]:
            a_table(dynamodb, name)
        for pk, sk, entity in keys:
            item = {"PK": {"S": pk}, "SK": {"S": sk}}
            noted = {"entityId": {"S": entity}} if entity else {}
            dynamodb.put_item(TableName=name, Item=item | noted)
    s3.create_bucket(Bucket="artifacts")
    for key in keys_of(tenant, job):
        s3.put_object(Bucket="artifacts", Key=key, Body=b"x")


def keys_of(tenant: str, job: str) -> set[str]:
    return {
        f"task/logs/{job}__a/1/artifacts/task-result.json",
        f"task/logs/bare-{job}/1/logs/stdout.log",
        f"task/documents/{tenant}/{job}.json",
        f"task/inputs/{tenant}/{job}__a/d.json",
        f"events/{job}__a/e-payload.json",
    }


def left() -> set[str]:
    keys = boto3.client("s3").list_objects_v2(Bucket="artifacts")["Contents"]
    return {entry["Key"] for entry in keys}


def partitions() -> set[str]:
    dynamodb = boto3.client("dynamodb")
    return {
        item["PK"]["S"]
        for name in TABLES.values()
        for item in dynamodb.scan(TableName=name)["Items"]
    }


@pytest.mark.usefixtures("stage")
def test_one_tenant_is_gone_and_the_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tenants = RUNBOOK.read_text().partition("## Deleting a tenant's data")[2]
    (script,) = re.findall(r"```python\n(.*?)```", tenants, re.DOTALL)
    monkeypatch.setattr(sys, "argv", ["script", "acme", "dev"])

    for _ in range(2):  # it may be run again
        exec(compile(script, str(RUNBOOK), "exec"), {})

    assert left() == keys_of("acme-inc", "job-10")
    assert {key.split("#")[1] for key in partitions()} == {"acme-inc"}
    assert len(partitions()) == 4
