"""What goes wrong on the deployed stacks reaches Slack, and so does its end."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from switchyard.adapters.slack.requests import SlackRequest
from switchyard.adapters.system import SystemClock
from switchyard.bootstrap import stage_parked_messages
from switchyard.domain.ids import JobRef
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.failures.foreign_messages import send
from tests.e2e.patience import eventually
from tests.fakes.slack import api as fake
from tests.fakes.slack.api import Message, SlackApi
from tests.fakes.slack.press import SECRET as TOKEN_AND_SIGNING_SECRET
from tests.fakes.slack.press import USER, a_payload, form_of, signed

FUNCTIONS = ("switchyard-local-notify", "switchyard-local-answer-slack")
CHANNEL = "#switchyard-local"
SECRET = "switchyard/local/slack"


@pytest.fixture(scope="module")
def slack(cloud: RunningCloud) -> Iterator[SlackApi]:
    """One on loopback, for as long as these tests run."""
    secrets = cloud.client("secretsmanager")
    with (
        fake.slack_api(SystemClock().now_ms) as api,
        pytest.MonkeyPatch.context() as patch,
        ExitStack() as undo,
    ):
        patch.setitem(fake.CHANNELS, CHANNEL, "C00000LOCAL")
        secrets.create_secret(Name=SECRET, SecretString=TOKEN_AND_SIGNING_SECRET)
        undo.callback(secrets.delete_secret, SecretId=SECRET, ForceDeleteWithoutRecovery=True)
        for function in FUNCTIONS:
            undo.enter_context(cloud.configured(function, SLACK_URL=api.url))
        yield api


def main_with(slack: SlackApi, *words: str) -> Message | None:
    found = [m for m in slack.mains if all(word in m.seen for word in words)]
    return found[0] if found else None


def reported(slack: SlackApi, *words: str) -> Message:
    return eventually(lambda: main_with(slack, *words), f"nobody was told of {words}")


def test_a_failed_job_is_posted_and_updated_when_its_redrive_completes(
    cloud: RunningCloud, slack: SlackApi
) -> None:
    broken = scripted(fail={"category": "validation", "message": "no <!channel>", "times": 1})
    job_id = cloud.submit(a_job({"taskId": "broken", **broken}))
    assert cloud.settled(job_id).status == "failed"
    message = reported(slack, job_id, "A job failed", "no <!channel>")
    redrive = {"tasks": ["broken"], "input": {}}
    with cloud.http as http:
        http.post(f"/jobs/{job_id}/redrive", json=redrive).raise_for_status()
    assert cloud.settled(job_id).status == "completed"
    assert reported(slack, job_id, "✅ A job that had failed completed").ts == message.ts
    assert slack.pinged == []


def post(cloud: RunningCloud, press: SlackRequest) -> int:
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": press.timestamp,
        "X-Slack-Signature": press.signature,
    }
    url = f"{cloud.endpoint.api_url}/slack/actions"
    return httpx.post(
        url, content=press.body, headers=headers, timeout=30, verify=False
    ).status_code


def redriven_by(cloud: RunningCloud, job_id: str, task_id: str) -> list[str]:
    reported = cloud.named_job(job_id, task_id)
    return [e["properties"]["requestedBy"] for e in reported if e["eventType"] == "Task Redriven"]


def test_a_failed_job_is_redriven_by_a_press_of_its_button_that_slack_signed(
    cloud: RunningCloud, slack: SlackApi
) -> None:
    broken = scripted(fail={"category": "validation", "message": "no"})
    job_id = cloud.submit(a_job({"taskId": "broken", **broken}))
    cloud.settled(job_id)
    message = reported(slack, job_id, "A job failed", "[Redrive]")
    container = {"channel_id": message.channel, "message_ts": message.ts}
    body = form_of(a_payload(JobRef("local", job_id), container=container))
    now_ms = SystemClock().now_ms()
    press = signed(body, at_ms=now_ms)

    assert post(cloud, signed(body, at_ms=now_ms, secret="guessed")) == 401
    assert cloud.settled(job_id).run == 1
    assert post(cloud, press) == 200
    assert post(cloud, press) == 401, "it came before"

    reported(slack, job_id, "A job failed", "run 2")
    assert cloud.settled(job_id).run == 2
    by = eventually(lambda: redriven_by(cloud, job_id, "broken") or None, "it is not in the log")
    assert by == [f"ada (Slack {USER})"]
    thread = [m.text for m in slack.messages if m.thread_ts == message.ts]
    assert thread.count(f"<@{USER}> redrove it: run 2") == 1
    assert [m.ts for m in slack.mains if job_id in m.seen] == [message.ts]


def test_a_poison_message_is_an_incident_until_it_is_removed(
    cloud: RunningCloud, slack: SlackApi
) -> None:
    message_id = send(cloud, "poison for people")
    reported(slack, "parked from", message_id)
    with stage_parked_messages("local", **cloud.endpoint.connection) as letters:
        for stored in letters.newest(1000):
            if stored.key.startswith("parked/"):
                letters.discard(stored)
    reported(slack, "✅ No messages are parked from switchyard-local-task-queue any more")
    assert slack.refused == []
