"""The API as API Gateway calls it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from switchyard.adapters import aws
from tests.builders import DIAMOND, JOB_ID, a_definition, a_submission
from tests.fakes.tables import BUCKET, REGION
from tests.lambdas.conftest import FakeContext, load_handler

pytestmark = pytest.mark.usefixtures("cloud")


class Api:
    def __init__(self) -> None:
        self._handler = load_handler("api").handler
        self.headers: dict[str, str] = {}
        """The headers of the last answer."""

    def __call__(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        status, answer = self.text(method, path, body, **more)
        return status, json.loads(answer)

    def text(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        tenant: str = "acme",
        query: str = "",
        content_type: str = "application/json",
        encoded: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, str]:
        event = {
            "version": "2.0",
            "routeKey": f"{method} {path}",
            "rawPath": path,
            "rawQueryString": query,
            "queryStringParameters": dict(p.split("=") for p in query.split("&") if p),
            "headers": {"content-type": content_type, "x-api-key": "k", **(headers or {})},
            "requestContext": {
                "requestId": "r-1",
                "stage": "$default",
                "http": {"method": method, "path": path},
                "authorizer": {"lambda": {"tenant": tenant, "keyId": "0123456789ab"}},
            },
            "body": body if isinstance(body, str) else json.dumps(body),
            "isBase64Encoded": encoded,
        }
        answer = self._handler(event, FakeContext())
        self.headers = answer["headers"]
        return answer["statusCode"], answer["body"]


@pytest.fixture
def api() -> Api:
    api = Api()
    definition = a_definition().model_dump(mode="json", by_alias=True, exclude_none=True)
    assert api("PUT", "/task-definitions/scrape", definition)[0] == 200
    return api


def a_body() -> Any:
    return a_submission().model_dump(mode="json", by_alias=True)


def test_a_job_is_created_and_read_back(api: Api) -> None:
    status, accepted = api("POST", "/jobs", a_body())
    assert status == 201
    assert (accepted["status"], accepted["totalTasks"]) == ("created", 5)
    status, view = api("GET", f"/jobs/{accepted['jobId']}")
    assert (status, view["status"], view["totalTasks"]) == (200, "processing", 5)
    assert {task["taskId"] for task in view["tasks"]} == set(DIAMOND)
    status, task = api("GET", f"/jobs/{accepted['jobId']}/tasks/color-tags")
    assert (status, task["dependsOn"]) == (200, ["scrape-store"])
    status, page = api("GET", "/jobs", query="limit=1")
    assert (status, [job["jobId"] for job in page["jobs"]]) == (200, [accepted["jobId"]])


def test_another_tenant_sees_nothing(api: Api) -> None:
    _, accepted = api("POST", "/jobs", a_body())
    assert api("GET", f"/jobs/{accepted['jobId']}", tenant="other")[0] == 404
    assert api("GET", f"/jobs/{accepted['jobId']}/tasks/color-tags", tenant="other")[0] == 404
    assert api("GET", "/jobs", tenant="other")[1]["jobs"] == []
    assert api("GET", "/task-definitions", tenant="other")[1]["definitions"] == []


def test_definitions_are_listed_with_their_version(api: Api) -> None:
    _, listed = api("GET", "/task-definitions")
    assert [(d["name"], d["version"]) for d in listed["definitions"]] == [("scrape", 1)]


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        ({"tasks": [{"taskId": "a", "name": "nobody"}]}, "tasks.0.name", "not a registered"),
        ({"tasks": [{"taskId": "a b", "name": "scrape"}]}, "tasks.0.taskId", "1 to 128"),
        ({"tasks": [{"name": "scrape"}]}, "tasks.0.taskId", "required"),
        ({"tasks": [], "surprise": 1}, "surprise", "not a field"),
        ({}, "tasks", "required"),
        ("{not json", "", ""),
    ],
)
def test_a_bad_job_is_refused_with_the_place_and_the_reason(
    api: Api, body: Any, path: str, words: str
) -> None:
    status, problem = api("POST", "/jobs", body)
    assert status in {400, 422}
    assert problem["status"] == status
    if path:
        assert any(p["path"] == path and words in p["message"] for p in problem["problems"])


def test_a_cycle_is_refused_by_name(api: Api) -> None:
    status, problem = api(
        "POST",
        "/jobs",
        a_submission({"a": ["b"], "b": ["a"]}).model_dump(mode="json", by_alias=True),
    )
    assert status == 400
    assert "a → b → a" in problem["detail"] or "b → a → b" in problem["detail"]


def test_a_bad_schema_is_refused(api: Api) -> None:
    bad = {"description": "d", "tag": "t", "outputSchema": {"type": "strange"}}
    status, problem = api("PUT", "/task-definitions/x", bad)
    assert status == 400
    assert "not a JSON Schema" in problem["detail"]
    assert api("PUT", "/task-definitions/bad name", {"description": "d", "tag": "t"})[0] == 400


@pytest.mark.parametrize("job_id", [JOB_ID, "nonsense", "job-%0a"])
def test_an_unknown_job_is_not_found(api: Api, job_id: str) -> None:
    status, problem = api("GET", f"/jobs/{job_id}")
    assert (status, problem["title"]) == (404, "Not Found")


def test_limits_and_cursors_are_checked(api: Api) -> None:
    assert api("GET", "/jobs", query="limit=101")[0] == 400
    assert api("GET", "/jobs", query="cursor=nonsense")[0] == 400


def test_hidden_tasks_cannot_be_read(api: Api) -> None:
    _, accepted = api("POST", "/jobs", a_body())
    assert api("GET", f"/jobs/{accepted['jobId']}/tasks/__start__")[0] == 404


def test_a_dependency_that_is_away_is_a_503(api: Api) -> None:
    aws.client("dynamodb").delete_table(TableName="state-test")
    assert api("POST", "/jobs", a_body())[0] == 503


def test_a_task_is_returned_though_its_input_has_expired(api: Api) -> None:
    s3, elsewhere = aws.client("s3"), {"LocationConstraint": REGION}
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=elsewhere)
    tasks = [{"taskId": "a", "name": "scrape", "input": "x" * 9_000}]
    job_id = api("POST", "/jobs", {"tasks": tasks})[1]["jobId"]
    for found in s3.list_objects_v2(Bucket=BUCKET)["Contents"]:
        s3.delete_object(Bucket=BUCKET, Key=found["Key"])
    status, task = api("GET", f"/jobs/{job_id}/tasks/a")
    assert (status, task["taskId"], task["input"]) == (200, "a", None)


def test_a_refused_request_is_logged_with_its_tenant_key_and_path(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    assert api("GET", f"/jobs/{JOB_ID}", tenant="other")[0] == 404
    assert api("GET", "/jobs", tenant="other")[0] == 200

    (refused,) = [vars(r) for r in caplog.records if r.getMessage() == "request is refused"]
    assert (refused["tenant"], refused["key_id"]) == ("other", "0123456789ab")
    assert (refused["status"], refused["path"]) == (404, f"/jobs/{JOB_ID}")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/jobs", None), ("GET", "/jobs/nobody", None), ("POST", "/jobs", "{not json")],
)
def test_every_answer_names_the_version_of_the_api(
    api: Api, method: str, path: str, body: Any
) -> None:
    api(method, path, body)
    assert api.headers["Switchyard-Api-Version"] == "1"


def test_the_description_names_the_version_of_the_api(api: Api) -> None:
    assert api("GET", "/openapi.json")[1]["info"]["x-api-version"] == "1"
