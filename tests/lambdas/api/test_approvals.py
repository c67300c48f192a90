"""`GET /approvals`, as API Gateway calls it."""

from typing import Any

import pytest

from switchyard.adapters import aws
from tests.builders import TENANT
from tests.lambdas.api.test_api import Api, api

__all__ = ["api"]

pytestmark = pytest.mark.usefixtures("cloud")

TASKS: list[dict[str, Any]] = [
    {"taskId": "gate", "kind": "approval", "question": "Publish it?"},
    {"taskId": "later", "kind": "approval", "dependsOn": ["gate"]},
    {"taskId": "pause", "kind": "wait", "for": "2h"},
]


def hold(job_id: str, task_id: str, cloud: dict[str, str]) -> None:
    """Do what the dispatcher does once a task may run that no worker runs."""
    aws.client("dynamodb").update_item(
        TableName=cloud["STATE_TABLE_NAME"],
        Key={"PK": {"S": f"TENANT#{TENANT}#JOB#{job_id}"}, "SK": {"S": f"TASK#{task_id}"}},
        UpdateExpression="SET #s = :held, held_until_ms = :until",
        ConditionExpression="attribute_exists(PK)",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={":held": {"S": "HELD"}, ":until": {"N": "1800000000000"}},
    )


def test_what_waits_for_a_person_is_listed(api: Api, cloud: dict[str, str]) -> None:
    _, accepted = api("POST", "/jobs", {"name": "release", "tasks": TASKS})
    assert api("GET", "/approvals") == (200, {"approvals": [], "cursor": None})
    hold(accepted["jobId"], "gate", cloud)
    hold(accepted["jobId"], "pause", cloud)

    status, page = api("GET", "/approvals", query="limit=1")

    assert (status, page["cursor"]) == (200, None)
    (shown,) = page["approvals"]
    assert (shown["taskId"], shown["name"]) == ("gate", "release")
    assert (shown["question"], shown["heldUntil"][:10]) == ("Publish it?", "2027-01-15")
    assert api("GET", "/approvals", tenant="other")[1]["approvals"] == []


@pytest.mark.parametrize("asked", ["limit=0", "limit=101", "cursor=x"])
def test_a_page_that_cannot_be_is_refused(api: Api, asked: str) -> None:
    status, answer = api("GET", "/approvals", query=asked)

    assert status == 400
    assert asked.partition("=")[0] in str(answer)
