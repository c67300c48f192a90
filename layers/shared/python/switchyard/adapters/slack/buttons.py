"""The payload that Slack sends when a user presses one of our buttons."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, StringConstraints, ValidationError

from switchyard.adapters.slack.blocks import ACTION_PREFIX
from switchyard.contracts.wire import CleanText
from switchyard.domain.alerts.incidents import Action, Button
from switchyard.domain.ids import JOB_ID, TASK_ID, TENANT_ID
from switchyard.ports.alerting import Posted
from switchyard.usecases.alerts.press_button import Press

_PRESSED: Final = "block_actions"
_ACTIONS: Final[Mapping[str, Action]] = {
    f"{ACTION_PREFIX}redrive": "redrive",
    f"{ACTION_PREFIX}cancel": "cancel",
    f"{ACTION_PREFIX}approve": "approve",
    f"{ACTION_PREFIX}reject": "reject",
}


DECISIONS: Final = frozenset({"approve", "reject"})
"""The actions on an approval."""


class UnreadablePress(ValueError):
    """Slack signed the request, and its payload cannot be parsed."""


def _like(pattern: str | re.Pattern[str]) -> StringConstraints:
    text = pattern if isinstance(pattern, str) else pattern.pattern
    return StringConstraints(pattern=rf"\A(?:{text})\z")


class _Payload(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _User(_Payload):
    id: Annotated[str, _like(r"[UW][A-Z0-9]{1,30}")]
    username: Annotated[CleanText, Field(max_length=100)] = ""


class _Container(_Payload):
    channel_id: Annotated[str, _like(r"[A-Z0-9]{1,30}")]
    message_ts: Annotated[str, _like(r"[0-9]{1,12}\.[0-9]{1,9}")]


class _Pressed(_Payload):
    action_id: str
    value: str = Field(default="", max_length=2_000)


class _Interaction(_Payload):
    type: str
    user: _User
    container: _Container
    actions: tuple[_Pressed, ...] = Field(min_length=1)
    response_url: str = ""


class _Value(_Payload):
    """The value of a button, as `blocks` writes it."""

    tenant: Annotated[str, _like(TENANT_ID)]
    job: Annotated[str, _like(JOB_ID)]
    run: PositiveInt
    task: Annotated[str, _like(TASK_ID)] | None = None
    basis: Annotated[str, _like(r"[0-9a-f]{16}")] | None = None


def parse_press(body: bytes) -> tuple[Press, str] | None:
    """Return the press and the URL where only the user who pressed is answered.

    Return `None` for a payload of another kind or of another app. Raise `UnreadablePress`.
    """
    try:
        payload = json.loads(parse_qs(body.decode())["payload"][0])
        if not isinstance(payload, dict) or payload.get("type") != _PRESSED:
            return None
        interaction = _Interaction.model_validate(payload)
        action = _ACTIONS.get(interaction.actions[0].action_id)
        return (_press(interaction, action), interaction.response_url) if action else None
    except (LookupError, ValueError, RecursionError) as error:
        raise UnreadablePress(_why(error)) from error


def _press(interaction: _Interaction, action: Action) -> Press:
    value = _Value.model_validate_json(interaction.actions[0].value)
    if action in DECISIONS and (value.task is None or value.basis is None):
        raise ValueError("the button names no approval")
    return Press(
        button=Button(
            action=action,
            tenant=value.tenant,
            job_id=value.job,
            run=value.run,
            task_id=value.task,
            basis=value.basis,
        ),
        user_id=interaction.user.id,
        user_name=interaction.user.username,
        message=Posted(interaction.container.channel_id, interaction.container.message_ts),
    )


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"the body is not a form with a payload: {type(error).__name__}"
