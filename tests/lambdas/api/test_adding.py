"""`POST /jobs/{jobId}/tasks` as API Gateway calls it."""

from typing import Any

import pytest

from switchyard.adapters import aws
from tests.builders import JOB_ID
from tests.lambdas.api.test_api import Api, a_body, api

__all__ = ["api"]

pytestmark = pytest.mark.usefixtures("cloud")


def tasks(**edges: list[str]) -> dict[str, Any]:
    return {
        "tasks": [{"taskId": t, "name": "scrape", "dependsOn": after} for t, after in edges.items()]
    }


@pytest.fixture
def path(api: Api) -> str:
    _, accepted = api("POST", "/jobs", a_body())
    return f"/jobs/{accepted['jobId']}"


def test_tasks_are_added_and_read_back(api: Api, path: str) -> None:
    status, added = api("POST", f"{path}/tasks", tasks(free=[], more=["compile-result"]))
    assert status == 200
    assert added == {
        "jobId": path.removeprefix("/jobs/"),
        "addedTasks": ["free", "more"],
        "immediatelyReady": ["free"],
        "totalTasksNow": 7,
        "problem": None,
        "tryAgain": False,
    }
    _, view = api("GET", path)
    assert view["totalTasks"] == 7
    _, task = api("GET", f"{path}/tasks/more")
    assert (task["dependsOn"], task["status"]) == (["compile-result"], "waiting")


def test_what_may_run_is_sent_to_the_dispatcher(api: Api, path: str, cloud: dict[str, str]) -> None:
    api("POST", f"{path}/tasks", tasks(free=[]))
    received = aws.client("sqs").receive_message(QueueUrl=cloud["DISPATCH_QUEUE_URL"])
    assert '"taskId":"free"' in received["Messages"][0]["Body"]


def test_problems_are_listed_with_their_places(api: Api, path: str) -> None:
    status, problem = api("POST", f"{path}/tasks", tasks(more=["nobody"]))
    assert status == 400
    (entry,) = problem["problems"]
    assert entry["path"] == "tasks.0.dependsOn"


@pytest.mark.parametrize("job_id", [JOB_ID, "nonsense"])
def test_an_unknown_job_is_not_found(api: Api, job_id: str) -> None:
    assert api("POST", f"/jobs/{job_id}/tasks", tasks(more=[]))[0] == 404


def test_another_tenants_job_is_not_found(api: Api, path: str) -> None:
    assert api("POST", f"{path}/tasks", tasks(more=[]), tenant="other")[0] == 404


def test_a_job_that_has_ended_is_a_conflict(api: Api, path: str) -> None:
    aws.client("dynamodb").update_item(
        TableName="state-test",
        Key={
            "PK": {"S": f"TENANT#acme#JOB#{path.removeprefix('/jobs/')}"},
            "SK": {"S": "JOB"},
        },
        UpdateExpression="SET #state = :state",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":state": {"S": "COMPLETED"}},
    )
    status, problem = api("POST", f"{path}/tasks", tasks(more=[]))
    assert status == 409
    assert "has already ended: it is completed" in problem["detail"]
