"""Answers the requests that Slack sends when a user presses a button.

A request is answered only if Slack signed it, and only once.
"""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from switchyard.adapters.slack.blocks import escaped
from switchyard.adapters.slack.buttons import UnreadablePress, parse_press
from switchyard.adapters.slack.requests import MAX_AGE_SECONDS, SlackRequest, name_of_signature
from switchyard.adapters.slack.secret import read_slack_secret
from switchyard.domain.errors import Unavailable
from switchyard.ports import Clock
from switchyard.ports.alerting import Secrets, Webhooks
from switchyard.ports.deduplication import Deduplication
from switchyard.usecases.alerts.press_button import ButtonPresses, Press

REMEMBERED_MS: Final = 3 * MAX_AGE_SECONDS * 1000
"""The time for which a signature is remembered; requests are accepted for twice the maximum age."""
MAX_REPLY: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: HTTPStatus
    outcome: str
    """The text that says what was done, or why nothing was done."""
    press: Press | None = None
    done: bool = False
    not_posted: str | None = None
    """The reason why the outcome could not be shown in Slack, if it could not."""


@dataclass(frozen=True, kw_only=True)
class SlackInteractions:
    secrets: Secrets
    secret_name: str
    deduplication: Deduplication
    presses: ButtonPresses
    replies: Webhooks
    reply_origin: str
    """The beginning of every URL that Slack may want its reply at."""
    clock: Clock

    def answer(self, request: SlackRequest) -> Answer:
        try:
            return self._answer(request)
        except Unavailable as error:
            return Answer(status=HTTPStatus.SERVICE_UNAVAILABLE, outcome=str(error))

    def _answer(self, request: SlackRequest) -> Answer:
        secret = read_slack_secret(self.secrets, self.secret_name)
        if secret is None or not secret.answers_buttons:
            return Answer(status=HTTPStatus.NOT_FOUND, outcome="there is no signing secret")
        problem = self._problem(request, secret.signing_secret.get_secret_value())
        if problem:
            return Answer(status=HTTPStatus.UNAUTHORIZED, outcome=problem)
        try:
            found = parse_press(request.body)
        except UnreadablePress as error:
            return Answer(status=HTTPStatus.BAD_REQUEST, outcome=str(error))
        if found is None:
            return Answer(status=HTTPStatus.OK, outcome="no button of ours was pressed")
        return self._act(*found)

    def _problem(self, request: SlackRequest, secret: str) -> str | None:
        now_ms = self.clock.now_ms()
        problem = request.problem(secret, now_ms=now_ms)
        if problem:
            return problem
        name = name_of_signature(request.signature)
        first = self.deduplication.first(name, now_ms=now_ms, keep_ms=REMEMBERED_MS)
        return None if first else "the request came before"

    def _act(self, press: Press, response_url: str) -> Answer:
        """Slack gets the status 200 from here on; the user reads the outcome in the chat."""
        pressed = self.presses.press(press)
        not_posted = pressed.not_posted
        if not pressed.done:
            not_posted = self._reply(response_url, f"Nothing was done: {pressed.outcome}")
        return Answer(
            status=HTTPStatus.OK,
            outcome=pressed.outcome,
            press=press,
            done=pressed.done,
            not_posted=not_posted,
        )

    def _reply(self, url: str, text: str) -> str | None:
        """Show a text to the user who pressed alone; return why that failed, if it did."""
        if not url.startswith(self.reply_origin):
            return "Slack named no URL for the reply"
        reply = {
            "response_type": "ephemeral",
            "replace_original": False,
            "text": escaped(text, MAX_REPLY),
        }
        try:
            self.replies.post(url, json.dumps(reply).encode(), {"Content-Type": "application/json"})
        except Unavailable as error:
            return str(error)
        return None
