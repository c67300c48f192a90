"""Requests that Slack sends when a user presses a button."""

import json
from typing import Any
from urllib.parse import urlencode

from switchyard.adapters.slack.requests import SlackRequest, signature_of
from switchyard.domain.ids import JobRef

SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
SECRET = json.dumps({"botToken": "xoxb-test", "signingSecret": SIGNING_SECRET})
USER, CHANNEL, MESSAGE = "U024BE7LH", "C061EG9SL", "1768464000.000100"


def a_payload(job: JobRef, action: str = "redrive", *, run: int = 1, **more: Any) -> dict[str, Any]:
    value = json.dumps({"tenant": job.tenant, "job": job.job_id, "run": run})
    return {
        "type": "block_actions",
        "user": {"id": USER, "username": "ada", "name": "ada", "team_id": "T061EG9R6"},
        "container": {"type": "message", "message_ts": MESSAGE, "channel_id": CHANNEL},
        "response_url": "https://hooks.slack.com/actions/T061EG9R6/1/abc",
        "actions": [{"action_id": f"switchyard_{action}", "value": value, "type": "button"}],
    } | more


def form_of(payload: object) -> bytes:
    return urlencode({"payload": json.dumps(payload)}).encode()


def signed(body: bytes, *, at_ms: int, secret: str = SIGNING_SECRET) -> SlackRequest:
    timestamp = str(at_ms // 1000)
    signature = signature_of(secret, timestamp=timestamp, body=body)
    return SlackRequest(timestamp=timestamp, signature=signature, body=body)
