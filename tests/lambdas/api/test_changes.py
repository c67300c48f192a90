"""Cancelling and redriving through the API, as API Gateway calls it."""

import json
from typing import Any

import pytest

from switchyard.adapters import aws
from tests.builders import JOB_ID
from tests.fakes.tables import BUCKET, REGION
from tests.lambdas.api.test_api import Api, a_body, api

__all__ = ["api"]

pytestmark = pytest.mark.usefixtures("cloud")


@pytest.fixture
def job_id(api: Api) -> str:
    _, accepted = api("POST", "/jobs", a_body())
    identity: str = accepted["jobId"]
    return identity


def dispatched(cloud: dict[str, str]) -> list[Any]:
    found = aws.client("sqs").receive_message(
        QueueUrl=cloud["JOB_QUEUE_URL"], MaxNumberOfMessages=10
    )
    return [json.loads(message["Body"]) for message in found.get("Messages", [])]


def test_a_cancelled_job_is_answered_and_left_to_the_dispatcher(
    api: Api, job_id: str, cloud: dict[str, str]
) -> None:
    assert api("GET", f"/jobs/{job_id}")[1]["cancelRequested"] is False
    status, answer = api("POST", f"/jobs/{job_id}/cancel")
    assert status == 202
    assert answer == {"jobId": job_id, "status": "cancelling", "cancelRequested": True}
    assert api("POST", f"/jobs/{job_id}/cancel") == (status, answer)
    assert api("GET", f"/jobs/{job_id}")[1]["cancelRequested"] is True
    assert {message["jobId"] for message in dispatched(cloud)} == {job_id}


def test_a_waiting_task_is_cancelled_later(api: Api, job_id: str) -> None:
    status, answer = api("POST", f"/jobs/{job_id}/tasks/color-tags/cancel")
    assert (status, answer["status"], answer["cancelRequested"]) == (202, "waiting", True)
    assert answer["requestId"] == f"{job_id}__color-tags"


@pytest.mark.parametrize("action", ["cancel", "tasks/color-tags/cancel", "redrive"])
def test_an_unknown_job_is_not_changed(api: Api, job_id: str, action: str) -> None:
    for unknown in (JOB_ID[:-1] + "9", "nonsense"):
        assert api("POST", f"/jobs/{unknown}/{action}", {})[0] == 404
    assert api("POST", f"/jobs/{job_id}/{action}", {}, tenant="other")[0] == 404


@pytest.mark.parametrize("task_id", ["nobody", "__end__"])
def test_an_unknown_task_is_not_changed(api: Api, job_id: str, task_id: str) -> None:
    assert api("POST", f"/jobs/{job_id}/tasks/{task_id}/cancel")[0] == 404


def test_a_job_that_goes_on_is_not_redriven(api: Api, job_id: str) -> None:
    status, problem = api("POST", f"/jobs/{job_id}/redrive", {})
    assert status == 409
    assert "has not settled yet" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"tasks": "a"}, "tasks"),
        ({"tasks": ["a b"]}, "tasks.0"),
        ({"maxTurns": 0}, "maxTurns"),
        ({"timeout": 1}, "timeout"),
        ({"maxCostUsd": -1}, "maxCostUsd"),
        ({"model": ""}, "model"),
        ({"surprise": 1}, "surprise"),
    ],
    ids=str,
)
def test_a_redrive_is_checked_with_the_place(api: Api, job_id: str, body: Any, path: str) -> None:
    status, problem = api("POST", f"/jobs/{job_id}/redrive", body)
    assert status == 400
    assert path in {entry["path"] for entry in problem["problems"]}


def put(job_id: str, sort_key: str, expression: str, **values: str) -> None:
    """Store the job as if it had gone so far."""
    said: dict[str, Any] = {}
    if values:
        said["ExpressionAttributeNames"] = {"#state": "state"}
        said["ExpressionAttributeValues"] = {f":{k}": {"S": v} for k, v in values.items()}
    aws.client("dynamodb").update_item(
        TableName="state-test",
        Key={"PK": {"S": f"TENANT#acme#JOB#{job_id}"}, "SK": {"S": sort_key}},
        UpdateExpression=expression,
        **said,
    )


def test_a_settled_job_is_redriven_once_nothing_of_it_is_due(
    api: Api, job_id: str, cloud: dict[str, str]
) -> None:
    elsewhere = {"LocationConstraint": REGION}
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=elsewhere)
    put(job_id, "JOB", "SET #state = :failed", failed="FAILED")
    put(job_id, "TASK#color-tags", "SET #state = :failed", failed="FAILED")
    status, problem = api("POST", f"/jobs/{job_id}/redrive", {})
    assert (status, "still emitting its events" in problem["detail"]) == (409, True)
    assert api.headers["Retry-After"] == "5"
    put(job_id, "TASK#__start__", "REMOVE due_at_ms, due_shard")
    bad = {"tasks": ["color-tags"], "input": "${tasks.font-pairing.output}"}
    status, problem = api("POST", f"/jobs/{job_id}/redrive", bad)
    assert (status, problem["problems"][0]["path"]) == (400, "input")
    body = {"tasks": ["color-tags"], "input": {"shade": "blue"}, "model": "claude-opus"}
    status, answer = api("POST", f"/jobs/{job_id}/redrive", body)
    assert status == 202
    assert answer == {
        "jobId": job_id,
        "status": "redriving",
        "run": 2,
        "readyTasks": ["color-tags"],
        "reopenedTasks": 2,
        "costUsd": 0.0,
        "plannedTasks": [],
        "staleTasks": [],
        "olderVersions": [],
    }
    status, problem = api("POST", f"/jobs/{job_id}/redrive", body)
    assert (status, "redriven already" in problem["detail"]) == (409, True)
    assert {message["jobId"] for message in dispatched(cloud)} == {job_id}
