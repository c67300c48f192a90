"""What goes wrong on the deployed stacks reaches Slack, and so does its end."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from switchyard.adapters.slack.requests import SlackRequest
from switchyard.adapters.system import SystemClock
from switchyard.bootstrap import stage_letters
from switchyard.domain.ids import JobRef
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.letters import send
from tests.e2e.patience import eventually
from tests.fakes import slack_api as fake
from tests.fakes.slack_api import Message, SlackApi
from tests.fakes.slack_press import SECRET as TOKEN_AND_SIGNING_SECRET
from tests.fakes.slack_press import USER, a_payload, form_of, signed

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


def told(slack: SlackApi, *words: str) -> Message:
    return eventually(lambda: main_with(slack, *words), f"nobody was told of {words}")


def test_a_failed_job_is_told_and_that_it_was_redriven_and_completed(
    cloud: RunningCloud, slack: SlackApi
) -> None:
    broken = scripted(fail={"category": "validation", "message": "no <!channel>", "times": 1})
    job_id = cloud.submit(a_job({"taskId": "broken", **broken}))
    assert cloud.settled(job_id).status == "failed"
    message = told(slack, job_id, "A job failed", "no <!channel>")
    redrive = {"tasks": ["broken"], "input": {}}
    with cloud.http as http:
        http.post(f"/jobs/{job_id}/redrive", json=redrive).raise_for_status()
    assert cloud.settled(job_id).status == "completed"
    assert told(slack, job_id, "✅ A job that had failed completed").ts == message.ts
    assert slack.pinged == []


def post(cloud: RunningCloud, press: SlackRequest) -> int:
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": press.timestamp,
        "X-Slack-Signature": press.signature,
    }
    url = f"{cloud.endpoint.api_url}/slack/actions"
    return httpx.post(url, content=press.body, headers=headers, timeout=30).status_code


def redriven_by(cloud: RunningCloud, job_id: str, task_id: str) -> list[str]:
    told = cloud.told_of(job_id, task_id)
    return [e["properties"]["requestedBy"] for e in told if e["eventType"] == "Task Redriven"]


def test_a_failed_job_is_redriven_by_a_press_of_its_button_that_slack_signed(
    cloud: RunningCloud, slack: SlackApi
) -> None:
    broken = scripted(fail={"category": "validation", "message": "no"})
    job_id = cloud.submit(a_job({"taskId": "broken", **broken}))
    cloud.settled(job_id)
    message = told(slack, job_id, "A job failed", "[Redrive]")
    container = {"channel_id": message.channel, "message_ts": message.ts}
    body = form_of(a_payload(JobRef("local", job_id), container=container))
    now_ms = SystemClock().now_ms()
    press = signed(body, at_ms=now_ms)

    assert post(cloud, signed(body, at_ms=now_ms, secret="guessed")) == 401
    assert cloud.settled(job_id).run == 1
    assert post(cloud, press) == 200
    assert post(cloud, press) == 401, "it came before"

    told(slack, job_id, "A job failed", "run 2")
    assert cloud.settled(job_id).run == 2
    by = eventually(lambda: redriven_by(cloud, job_id, "broken") or None, "it is not in the log")
    assert by == [f"ada (Slack {USER})"]
    thread = [m.text for m in slack.messages if m.thread_ts == message.ts]
    assert thread.count(f"<@{USER}> redrove it: run 2") == 1
    assert [m.ts for m in slack.mains if job_id in m.seen] == [message.ts]


def test_poison_is_told_until_somebody_has_thrown_it_away(
    cloud: RunningCloud, slack: SlackApi
) -> None:
    message_id = send(cloud, "poison for people")
    told(slack, "in quarantine", message_id)
    with stage_letters("local", **cloud.endpoint.connection) as letters:
        for kept in letters.newest(1000):
            if kept.key.startswith("quarantine/"):
                letters.discard(kept)
    told(slack, "✅ No messages are in quarantine any more")
    assert slack.refused == []
