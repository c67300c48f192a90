"""What Slack sends when somebody presses a button."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, StringConstraints, ValidationError

from switchyard.contracts.wire import CleanText
from switchyard.domain.alerts.incident_rendering import ACTION_PREFIX
from switchyard.domain.alerts.incidents import Action, Button
from switchyard.domain.ids import JOB_ID, TENANT_ID

_PRESSED: Final = "block_actions"
_ACTIONS: Final[Mapping[str, Action]] = {
    f"{ACTION_PREFIX}redrive": "redrive",
    f"{ACTION_PREFIX}cancel": "cancel",
}


class UnreadablePress(ValueError):
    """Slack signed it, and we do not understand it."""


@dataclass(frozen=True, slots=True)
class SlackRequest:
    timestamp: str
    signature: str
    body: bytes

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """As API Gateway passes it on: a form comes encoded."""
        headers = {name.lower(): value for name, value in event.get("headers", {}).items()}
        return cls(
            timestamp=headers.get("x-slack-request-timestamp", ""),
            signature=headers.get("x-slack-signature", ""),
            body=_bytes_in(event),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    button: Button
    user_id: str
    user_name: str
    channel: str
    thread: str
    """The `ts` of the message that has the button."""
    response_url: str
    """Where the one who pressed is answered, and nobody else."""

    @property
    def by(self) -> str:
        name = " ".join(self.user_name.split())
        return f"{name} (Slack {self.user_id})".strip()


def _like(pattern: str | re.Pattern[str]) -> StringConstraints:
    text = pattern if isinstance(pattern, str) else pattern.pattern
    return StringConstraints(pattern=rf"\A(?:{text})\z")


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _User(_Said):
    id: Annotated[str, _like(r"[UW][A-Z0-9]{1,30}")]
    username: Annotated[CleanText, Field(max_length=100)] = ""


class _Container(_Said):
    channel_id: Annotated[str, _like(r"[A-Z0-9]{1,30}")]
    message_ts: Annotated[str, _like(r"[0-9]{1,12}\.[0-9]{1,9}")]


class _Pressed(_Said):
    action_id: str
    value: str = Field(default="", max_length=2_000)


class _Interaction(_Said):
    type: str
    user: _User
    container: _Container
    actions: tuple[_Pressed, ...] = Field(min_length=1)
    response_url: str = ""


class _Value(_Said):
    """Of a button, as `incident_rendering` writes it."""

    tenant: Annotated[str, _like(TENANT_ID)]
    job: Annotated[str, _like(JOB_ID)]
    run: PositiveInt


def parse_press(body: bytes) -> Press | None:
    """`None` if it is nothing that concerns us. Raise `UnreadablePress`."""
    try:
        payload = json.loads(parse_qs(body.decode())["payload"][0])
        if not isinstance(payload, dict) or payload.get("type") != _PRESSED:
            return None
        said = _Interaction.model_validate(payload)
        action = _ACTIONS.get(said.actions[0].action_id)
        return _press(said, action) if action else None
    except (LookupError, ValueError, RecursionError) as error:
        raise UnreadablePress(_why(error)) from error


def _press(said: _Interaction, action: Action) -> Press:
    value = _Value.model_validate_json(said.actions[0].value)
    return Press(
        button=Button(action=action, tenant=value.tenant, job_id=value.job, run=value.run),
        user_id=said.user.id,
        user_name=said.user.username,
        channel=said.container.channel_id,
        thread=said.container.message_ts,
        response_url=said.response_url,
    )


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"it is not a form with a payload: {type(error).__name__}"


def _bytes_in(event: Mapping[str, Any]) -> bytes:
    body = str(event.get("body") or "").encode()
    if not event.get("isBase64Encoded"):
        return body
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        return b""  # nothing that Slack would have signed
