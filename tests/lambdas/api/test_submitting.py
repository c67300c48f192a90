"""`POST /jobs` under an idempotency key, and of large jobs, as API Gateway calls it."""

import json
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.contracts.dispatch_messages import DispatchMessage
from switchyard.domain.ids import JobRef
from tests.builders import TRACEPARENT, a_definition, a_submission
from tests.fakes.tables import BUCKET, REGION
from tests.lambdas.conftest import FakeContext, load_handler


class Submissions:
    def __init__(self) -> None:
        self._handler = load_handler("api").handler

    def put_definition(self) -> None:
        definition = a_definition().model_dump(mode="json", by_alias=True, exclude_none=True)
        assert self.call("PUT", "/task-definitions/scrape", definition, {})[0] == 200

    def __call__(self, body: Any, **headers: str) -> tuple[int, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.call("POST", "/jobs", body, named)

    def job(self, job_id: str) -> Any:
        status, view = self.call("GET", f"/jobs/{job_id}", None, {})
        assert status == 200
        return view

    def call(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        event = {
            "version": "2.0",
            "routeKey": f"{method} {path}",
            "rawPath": path,
            "rawQueryString": "",
            "headers": {"content-type": "application/json", **headers},
            "requestContext": {
                "requestId": "r-1",
                "stage": "$default",
                "http": {"method": method, "path": path},
                "authorizer": {"lambda": {"tenant": "acme", "keyId": "0123456789ab"}},
            },
            "body": json.dumps(body),
            "isBase64Encoded": False,
        }
        answer = self._handler(event, FakeContext())
        return answer["statusCode"], json.loads(answer["body"])


@pytest.fixture
def submit(cloud: dict[str, str]) -> Submissions:
    elsewhere = {"LocationConstraint": REGION}
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=elsewhere)
    submissions = Submissions()
    submissions.put_definition()
    return submissions


def a_body(**facts: Any) -> Any:
    return a_submission(**facts).model_dump(mode="json", by_alias=True)


def test_the_same_body_under_the_same_key_is_the_same_job(submit: Submissions) -> None:
    first = submit(a_body(), idempotency_key="k-1")
    assert (first[0], first[1]["repeated"]) == (201, False)
    assert submit(a_body(), idempotency_key="k-1") == (201, {**first[1], "repeated": True})
    assert submit(a_body(), idempotency_key="k-2")[1]["jobId"] != first[1]["jobId"]
    assert submit(a_body())[1]["jobId"] != first[1]["jobId"]


def test_another_body_under_the_same_key_cannot_be_processed(submit: Submissions) -> None:
    submit(a_body(), idempotency_key="k-1")
    status, problem = submit(a_body(name="another"), idempotency_key="k-1")
    assert (status, problem["status"], problem["title"]) == (422, 422, "Unprocessable Content")
    assert "'k-1' was used for another job" in problem["detail"]


def test_a_job_is_in_the_trace_that_its_caller_names(submit: Submissions) -> None:
    _, accepted = submit(a_body(), traceparent=TRACEPARENT)
    _, alone = submit(a_body(), traceparent="nonsense")
    trace_id = TRACEPARENT.split("-")[1]
    assert accepted["traceId"] == submit.job(accepted["jobId"])["traceId"] == trace_id
    assert alone["traceId"] == submit.job(alone["jobId"])["traceId"] != trace_id


@pytest.mark.parametrize("key", ["", "two words", "a#b", "k" * 256])
def test_a_bad_key_is_a_bad_request(submit: Submissions, key: str) -> None:
    status, problem = submit(a_body(), idempotency_key=key)
    assert status == 400
    assert [p["path"] for p in problem["problems"]] == ["Idempotency-Key"]


def test_a_reference_to_a_task_that_is_no_ancestor_is_refused_with_its_place(
    submit: Submissions,
) -> None:
    tasks = [
        {"taskId": "a", "name": "scrape"},
        {"taskId": "b", "name": "scrape", "input": {"x": ["${tasks.a.output.name}"]}},
    ]
    status, problem = submit({"tasks": tasks})
    assert status == 400
    assert [p["path"] for p in problem["problems"]] == ["tasks.1.input.x.0"]


def test_more_than_a_thousand_tasks_are_left_to_the_dispatcher(
    submit: Submissions, cloud: dict[str, str]
) -> None:
    edges: dict[str, list[str]] = {f"t{n}": [] for n in range(1_001)}
    status, accepted = submit(a_body(edges=edges), idempotency_key="k-1")
    assert (status, accepted["totalTasks"], len(accepted["rootTasks"])) == (201, 1_001, 1_001)
    view = submit.job(accepted["jobId"])
    assert (view["status"], view["totalTasks"], view["tasks"]) == ("processing", 1_001, [])
    assert submit(a_body(edges=edges), idempotency_key="k-1") == (
        201,
        {**accepted, "repeated": True},
    )
    sent = aws.client("sqs").receive_message(
        QueueUrl=cloud["JOB_QUEUE_URL"], MaxNumberOfMessages=10
    )["Messages"]
    refs = [DispatchMessage.model_validate_json(message["Body"]).ref for message in sent]
    assert refs == [JobRef("acme", accepted["jobId"])] * 2
