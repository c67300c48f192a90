"""Slack's Web API.

`slack_sdk` is imported when somebody is to be told, and not before: it would make every start of a
function slower. It is kept from trying again by itself, which could post twice.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final

from switchyard.adapters.slack_refusals import refusal
from switchyard.contracts.slack_secret import SlackSecret, slack_secret_in
from switchyard.domain.alerts.incident_rendering import Page
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.ports import Clock
from switchyard.ports.alerting import ChatBusy, Mark, Posted, Secrets

EVENT_TYPE: Final = "switchyard_incident"
SECONDS_PER_CALL: Final = 5
PATIENCE_SECONDS: Final = 5.0
"""With a rate limit: longer waits are for another run."""
ALL_PATIENCE_SECONDS: Final = 8.0
PATIENT_FOR_SECONDS: Final = 30.0
"""Within so long no more is waited, or a function that tells several would not come to its end."""
USUAL_WAIT_SECONDS: Final = 30.0
PER_PAGE: Final = 200
MAX_PAGES: Final = 5
_CHANNEL_ID: Final = re.compile(r"[CDG][A-Z0-9]{5,}")
_NOT_SENT: Final = (ConnectionRefusedError,)


@dataclass(kw_only=True)
class SlackChat:
    client: Any
    clock: Clock
    answers_buttons: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    """Of the channels whose names we have posted to."""
    _waited_since: float = field(default=0.0, init=False)
    _waited: float = field(default=0.0, init=False)

    def post(self, page: Page, mark: Mark, *, channel: str, thread: str | None = None) -> Posted:
        answer = self._call(
            self.client.chat_postMessage,
            channel=channel,
            thread_ts=thread,
            unfurl_links=False,
            unfurl_media=False,
            **_content(page, mark),
        )
        self.ids[channel] = answer["channel"]
        return Posted(answer["channel"], answer["ts"])

    def update(self, page: Page, mark: Mark, posted: Posted) -> None:
        self._call(
            self.client.chat_update,
            channel=posted.channel,
            ts=posted.ts,
            **_content(page, mark),
        )

    def find(
        self, mark: Mark, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        where = self._id_of(channel)
        request = {"channel": where, "oldest": f"{since_ms / 1000:.6f}", "inclusive": True}
        look: Callable[..., Any] = self.client.conversations_history
        if thread:
            look, request["ts"] = self.client.conversations_replies, thread
        for page in self._pages(look, include_all_metadata=True, **request):
            for message in page["messages"]:
                if message.get("metadata") == _metadata(mark):
                    return Posted(where, message["ts"])
        return None

    def _id_of(self, channel: str) -> str:
        """Only posting takes a name."""
        if _CHANNEL_ID.fullmatch(channel):
            return channel
        if channel not in self.ids:
            self.ids[channel] = self._listed(channel.removeprefix("#"))
        return self.ids[channel]

    def _listed(self, name: str) -> str:
        for page in self._pages(self.client.conversations_list, exclude_archived=True):
            for found in page["channels"]:
                if found["name"] == name:
                    channel_id: str = found["id"]
                    return channel_id
        raise refusal("channel_not_found")

    def _pages(self, look: Callable[..., Any], **request: Any) -> Iterator[Any]:
        for _ in range(MAX_PAGES):
            page = self._call(look, limit=PER_PAGE, **request)
            yield page
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
            request["cursor"] = cursor

    def _call(self, method: Callable[..., Any], **arguments: Any) -> Any:
        """A short wait is worth it, once."""
        try:
            return _translated(method, **arguments)
        except ChatBusy as busy:
            if not self._may_wait(busy.retry_after_seconds):
                raise
            self.clock.sleep(busy.retry_after_seconds)
        return _translated(method, **arguments)

    def _may_wait(self, seconds: float) -> bool:
        now = self.clock.monotonic()
        if now - self._waited_since > PATIENT_FOR_SECONDS:
            self._waited_since, self._waited = now, 0.0
        self._waited += seconds
        return seconds <= PATIENCE_SECONDS and self._waited <= ALL_PATIENCE_SECONDS


@dataclass(kw_only=True)
class SlackDoor:
    """Opens when there is a token, and again when it has changed."""

    secrets: Secrets
    secret_name: str
    url: str
    """Empty: Slack's own."""
    clock: Clock
    seconds_per_call: int = SECONDS_PER_CALL
    _inside: tuple[SlackSecret, SlackChat] | None = field(default=None, init=False)

    def enter(self) -> SlackChat | None:
        text = self.secrets.text(self.secret_name) if self.secret_name else None
        secret = slack_secret_in(text)
        if secret is None:
            return None
        if self._inside is None or self._inside[0] != secret:
            self._inside = (secret, self._chat(secret))
        return self._inside[1]

    def _chat(self, secret: SlackSecret) -> SlackChat:
        from slack_sdk.web.client import WebClient  # noqa: PLC0415

        client = WebClient(
            token=secret.bot_token.get_secret_value(),
            timeout=self.seconds_per_call,
            retry_handlers=[],
            base_url=self.url or WebClient.BASE_URL,
        )
        return SlackChat(client=client, clock=self.clock, answers_buttons=secret.answers_buttons)


def _content(page: Page, mark: Mark) -> dict[str, Any]:
    return {
        "text": page.text,
        "blocks": list(page.blocks),
        "metadata": _metadata(mark),
        "parse": "none",
        "link_names": False,
    }


def _metadata(mark: Mark) -> dict[str, Any]:
    payload = {"subject": mark.subject, "openedAt": mark.opened_at_ms, "part": mark.part}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def _translated(method: Callable[..., Any], **arguments: Any) -> Any:
    from slack_sdk.errors import SlackApiError  # noqa: PLC0415

    try:
        return method(**arguments).data
    except SlackApiError as error:
        raise _said(error.response) from error
    except OSError as error:
        reason = getattr(error, "reason", error)
        kind = Unavailable if isinstance(reason, _NOT_SENT) else AnswerLost
        raise kind(f"Slack cannot be reached: {reason}") from error
    except HTTPException as error:
        raise AnswerLost(f"Slack's answer broke off: {error!r}") from error


def _said(response: Any) -> Exception:
    """What Slack's refusal means."""
    status, headers = response.status_code, response.headers
    code = response.data.get("error", "") if isinstance(response.data, dict) else ""
    if status == HTTPStatus.TOO_MANY_REQUESTS or code == "ratelimited":
        return ChatBusy(_seconds(headers.get("Retry-After")))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or not code:
        return AnswerLost(f"Slack answered {status}")
    return refusal(code)


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return USUAL_WAIT_SECONDS
