"""Presses in Slack, as API Gateway passes them on."""

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.slack.requests import SlackRequest
from switchyard.adapters.system import SystemClock
from switchyard.domain.ids import JobRef
from tests.builders import JOB, TENANT
from tests.fakes.servers.webhook_server import WebhookServer, a_webhook
from tests.fakes.slack.press import CHANNEL, MESSAGE, SECRET, USER, a_payload, form_of, signed
from tests.fakes.tables import BUCKET, REGION
from tests.lambdas.api.test_api import Api, a_body, api
from tests.lambdas.api.test_changes import dispatched, put
from tests.lambdas.conftest import FakeContext, load_handler

__all__ = ["api"]

pytestmark = pytest.mark.usefixtures("cloud")

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "events" / "answer_slack.json").read_text()
)
SECRET_NAME = "switchyard/test/slack"


def well(handler: BaseHTTPRequestHandler) -> None:
    """Answer as Slack does to a message that it takes."""
    answer = json.dumps({"ok": True, "channel": CHANNEL, "ts": "1768464011.000200"}).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(answer)))
    handler.end_headers()
    handler.wfile.write(answer)


@pytest.fixture
def slack(cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookServer]:
    with a_webhook(well) as server:
        monkeypatch.setenv("SLACK_URL", server.url(path="/api/"))
        monkeypatch.setenv("SLACK_SECRET", SECRET_NAME)
        monkeypatch.setenv("SLACK_OPERATORS", f"U0OTHER,{USER}")
        aws.client("secretsmanager").create_secret(Name=SECRET_NAME, SecretString=SECRET)
        yield server


@pytest.fixture
def failed(api: Api) -> JobRef:
    """A job that may be redriven."""
    elsewhere = {"LocationConstraint": REGION}
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=elsewhere)
    _, accepted = api("POST", "/jobs", a_body())
    job_id = accepted["jobId"]
    put(job_id, "JOB", "SET #state = :failed", failed="FAILED")
    put(job_id, "TASK#color-tags", "SET #state = :failed", failed="FAILED")
    put(job_id, "TASK#__start__", "REMOVE due_at_ms, due_shard")
    return JobRef(TENANT, job_id)


def event_of(request: SlackRequest) -> dict[str, Any]:
    headers = RECORDED["headers"] | {
        "x-slack-request-timestamp": request.timestamp,
        "x-slack-signature": request.signature,
    }
    return RECORDED | {"headers": headers, "body": base64.b64encode(request.body).decode()}


def a_press(job: JobRef, slack: WebhookServer, *, run: int = 1, age_ms: int = 0) -> dict[str, Any]:
    payload = a_payload(job, run=run, response_url=slack.url(path="/respond"))
    return event_of(signed(form_of(payload), at_ms=SystemClock().now_ms() - age_ms))


def answer_to(event: dict[str, Any]) -> int:
    status: int = load_handler("answer_slack").handler(event, FakeContext())["statusCode"]
    return status


def said_in(slack: WebhookServer) -> list[tuple[str, Any]]:
    return [(arrived.path, json.loads(arrived.body)) for arrived in slack.arrived]


def test_a_real_press_redrives_the_job_and_is_recorded(
    api: Api,
    failed: JobRef,
    slack: WebhookServer,
    cloud: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    dispatched(cloud)
    press = a_press(failed, slack)
    assert answer_to(press) == 200
    assert {message["jobId"] for message in dispatched(cloud)} == {failed.job_id}
    assert "redriven already" in api("POST", f"/jobs/{failed.job_id}/redrive", {})[1]["detail"]
    ((path, said),) = said_in(slack)
    assert (path, said["channel"], said["thread_ts"]) == (
        "/api/chat.postMessage",
        CHANNEL,
        MESSAGE,
    )
    assert said["text"] == f"<@{USER}> redrove it: run 2"
    (stored,) = aws.client("s3").list_objects_v2(Bucket=BUCKET, Prefix="task/")["Contents"]
    plan = aws.client("s3").get_object(Bucket=BUCKET, Key=stored["Key"])["Body"].read()
    assert json.loads(plan)["requestedBy"] == f"ada (Slack {USER})"
    (logged,) = (vars(line) for line in caplog.records if line.message == "slack was answered")
    assert (logged["user_id"], logged["user_name"], logged["run"]) == (USER, "ada", 1)
    for secret in (*json.loads(SECRET).values(), press["headers"]["x-slack-signature"]):
        assert secret not in str([vars(line) for line in caplog.records])


def test_forged_replayed_and_late_presses_are_refused(
    failed: JobRef, slack: WebhookServer, cloud: dict[str, str]
) -> None:
    real = a_press(failed, slack, run=7)
    assert answer_to(real) == 200
    slack.arrived.clear()
    dispatched(cloud)
    forged = real | {"body": a_press(failed, slack)["body"]}
    late = a_press(failed, slack, age_ms=301_000)
    upper = {name.upper(): value for name, value in real["headers"].items()}
    for event in (
        forged,
        real,
        real | {"headers": upper},
        late,
        RECORDED,
        RECORDED | {"body": "?"},
    ):
        assert answer_to(event) == 401
    assert (slack.arrived, dispatched(cloud)) == ([], [])


def test_who_cannot_be_helped_is_told_why_and_nobody_else(
    failed: JobRef, slack: WebhookServer
) -> None:
    """The headers may be in any case, and the body need not be encoded."""
    event = a_press(failed, slack, run=7)
    headers = {name.title(): value for name, value in event["headers"].items()}
    plain = base64.b64decode(event["body"]).decode()
    assert answer_to(event | {"headers": headers, "body": plain, "isBase64Encoded": False}) == 200
    ((path, said),) = said_in(slack)
    assert path == "/respond"
    assert said["response_type"] == "ephemeral"
    assert "that was run 7" in said["text"]


def test_without_a_signing_secret_there_is_no_such_route(slack: WebhookServer) -> None:
    bare = "xoxb-bare-token"
    aws.client("secretsmanager").put_secret_value(SecretId=SECRET_NAME, SecretString=bare)
    assert answer_to(a_press(JOB, slack)) == 404


def test_where_nobody_has_set_up_slack_there_is_no_such_route() -> None:
    assert answer_to(RECORDED) == 404


@pytest.mark.parametrize("listed", ["", "U0OTHER", f"{USER}X"])
def test_a_press_of_a_user_whom_nobody_listed_is_refused_and_logged(
    failed: JobRef,
    slack: WebhookServer,
    cloud: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    listed: str,
) -> None:
    monkeypatch.setenv("SLACK_OPERATORS", listed)
    dispatched(cloud)

    assert answer_to(a_press(failed, slack)) == 200

    ((path, said),) = said_in(slack)
    assert (path, said["response_type"]) == ("/respond", "ephemeral")
    assert f"the Slack user {USER} is neither among the operators" in said["text"]
    assert dispatched(cloud) == []
    (logged,) = (vars(line) for line in caplog.records if line.message == "slack was answered")
    assert (logged["user_id"], logged["tenant_id"]) == (USER, TENANT)
