"""Answers what somebody presses in Slack: believes only Slack, and nothing twice."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from switchyard.contracts.slack_actions import (
    Press,
    SlackRequest,
    UnreadablePress,
    parse_press,
)
from switchyard.contracts.slack_secret import slack_secret_in
from switchyard.domain.access.tenants import may_press
from switchyard.domain.alerts.incident_rendering import escaped
from switchyard.domain.alerts.job_incident import job_subject
from switchyard.domain.alerts.slack_signatures import (
    MAX_AGE_SECONDS,
    name_of_signature,
    problem_with_signature,
)
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.domain.ids import JobRef
from switchyard.ports import Clock, TenantStore
from switchyard.ports.alerting import Mark, Secrets
from switchyard.ports.once import Once
from switchyard.ports.webhooks import Webhooks
from switchyard.usecases.alerts.press_button import Buttons
from switchyard.usecases.alerts.thread_notes import Thread, ThreadNotes

KEEP_MS: Final = 3 * MAX_AGE_SECONDS * 1000  # a request is fresh for twice its age at most
TRY_AGAIN: Final = "something that this needs does not answer; try again in a moment"

NOT_AN_OPERATOR: Final = (
    "the Slack user {} is neither among the operators of this stage nor among those of the tenant"
    " whose job it is; who runs the stage can add you (switchyard tenants set)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    status: HTTPStatus
    outcome: str
    """What was done, or why nothing was."""
    press: Press | None = None
    done: bool = False
    not_told: str | None = None
    """What kept the people in Slack from reading of it."""


@dataclass(frozen=True, kw_only=True)
class SlackDesk:
    secrets: Secrets
    secret_name: str
    once: Once
    buttons: Buttons
    operators: Collection[str]
    """The ids of the Slack users who may press buttons on every tenant's incidents."""
    tenants: TenantStore
    notes: ThreadNotes
    replies: Webhooks
    replies_to: str
    """What the addresses begin with that Slack wants its answers at."""
    clock: Clock

    def answer(self, request: SlackRequest) -> Answered:
        try:
            return self._answer(request)
        except Unavailable as error:
            return Answered(status=HTTPStatus.SERVICE_UNAVAILABLE, outcome=str(error))

    def _answer(self, request: SlackRequest) -> Answered:
        text = self.secrets.text(self.secret_name) if self.secret_name else None
        secret = slack_secret_in(text)
        if secret is None or not secret.answers_buttons:
            return Answered(status=HTTPStatus.NOT_FOUND, outcome="there is no signing secret")
        problem = self._problem(request, secret.signing_secret.get_secret_value())
        if problem:
            return Answered(status=HTTPStatus.UNAUTHORIZED, outcome=problem)
        try:
            press = parse_press(request.body)
        except UnreadablePress as error:
            return Answered(status=HTTPStatus.BAD_REQUEST, outcome=str(error))
        if press is None:
            return Answered(status=HTTPStatus.OK, outcome="no button of ours was pressed")
        return self._act(press)

    def _problem(self, request: SlackRequest, secret: str) -> str | None:
        now_ms = self.clock.now_ms()
        problem = problem_with_signature(
            secret,
            timestamp=request.timestamp,
            signature=request.signature,
            body=request.body,
            now_ms=now_ms,
        )
        if problem:
            return problem
        name = name_of_signature(request.signature)
        first = self.once.first(name, now_ms=now_ms, keep_ms=KEEP_MS)
        return None if first else "it came before"

    def _act(self, press: Press) -> Answered:
        """From here on Slack is content: whoever pressed reads what became of it."""
        try:
            if not self._may(press):
                return self._refused(press, NOT_AN_OPERATOR.format(press.user_id))
            done = self.buttons.press(press.button, by=press.by)
        except Rejected as error:
            return self._refused(press, str(error))
        except Unavailable:
            return self._refused(press, TRY_AGAIN)
        return Answered(
            status=HTTPStatus.OK,
            outcome=done,
            press=press,
            done=True,
            not_told=self._tell_thread(press, done),
        )

    def _may(self, press: Press) -> bool:
        settings = self.tenants.find(press.button.tenant)
        return may_press(press.user_id, stage_operators=self.operators, settings=settings)

    def _tell_thread(self, press: Press, done: str) -> str | None:
        button = press.button
        subject = job_subject(JobRef(button.tenant, button.job_id))
        mark = Mark(subject, 0, f"{button.action}-{button.run}-{press.user_id}")
        thread = Thread(press.channel, press.thread)
        return self.notes.add(thread, f"<@{press.user_id}> {done}", mark)

    def _refused(self, press: Press, reason: str) -> Answered:
        return Answered(
            status=HTTPStatus.OK,
            outcome=reason,
            press=press,
            not_told=self._whisper(press, reason),
        )

    def _whisper(self, press: Press, reason: str) -> str | None:
        """To whoever pressed, and nobody else."""
        if not press.response_url.startswith(self.replies_to):
            return "Slack did not say where to answer"
        said = {
            "response_type": "ephemeral",
            "replace_original": False,
            "text": f"Nothing was done: {escaped(reason, 1_000)}",
        }
        try:
            self.replies.post(
                press.response_url, json.dumps(said).encode(), {"Content-Type": "application/json"}
            )
        except Unavailable as error:
            return str(error)
        return None
