"""Posts messages with Slack's Web API.

`slack_sdk` is imported when a message has to be posted: it would slow down every cold start. Its
own retries are switched off, because they could post a message twice.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final

from switchyard.adapters.slack.blocks import pages_of, render
from switchyard.adapters.slack.secret import SlackSecret, read_slack_secret
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.ports import Clock
from switchyard.ports.alerting import (
    ChatBusy,
    ChatMessage,
    ChatRefused,
    MessageGone,
    MessageKey,
    Posted,
    Secrets,
)

EVENT_TYPE: Final = "switchyard_incident"
SECONDS_PER_CALL: Final = 5
MAX_WAIT_SECONDS: Final = 5.0
"""The longest wait that a rate limit is waited for; after a longer one the alert is postponed."""
MAX_WAITS_SECONDS: Final = 8.0
"""The longest time that is waited in total within `WAIT_WINDOW_SECONDS`."""
WAIT_WINDOW_SECONDS: Final = 30.0
"""The length of that window: the time limit of a function that posts several alerts."""
USUAL_WAIT_SECONDS: Final = 30.0
"""The wait for a rate limit that names none."""
PER_PAGE: Final = 200
MAX_PAGES: Final = 5
_CHANNEL_ID: Final = re.compile(r"[CDG][A-Z0-9]{5,}")
_NOT_SENT: Final = (ConnectionRefusedError,)

_INSTALL: Final = "put the token of an installed app into the secret"
_INVITE: Final = "invite the bot to the channel: /invite @switchyard"
_FIXES: Final = {
    "invalid_auth": _INSTALL,
    "not_authed": _INSTALL,
    "account_inactive": _INSTALL,
    "token_revoked": _INSTALL,
    "token_expired": _INSTALL,
    "channel_not_found": f"check the channel's name or id; if it is private, {_INVITE}",
    "not_in_channel": _INVITE,
    "is_archived": "name another channel in stacks/stage.py",
    "restricted_action": "allow apps to post to the channel",
    "missing_scope": "give the app chat:write, and channels:history and channels:read (a private "
    "channel, which must be named by its id, needs groups:history), by which a message whose "
    "answer was lost is found and not posted twice; then install it again",
}
_GONE: Final = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"}
)
_UNKNOWN_OUTCOME: Final = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable"}
)


@dataclass(kw_only=True)
class SlackChat:
    """Posts to one Slack workspace."""

    client: Any
    clock: Clock
    answers_buttons: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of channels, by the names that were posted to."""
    _waited_since: float = field(default=0.0, init=False)
    _waited: float = field(default=0.0, init=False)

    def page_count(self, incident: Incident) -> int:
        return len(pages_of(incident, with_buttons=self.answers_buttons))

    def post(
        self, message: ChatMessage, key: MessageKey, *, channel: str, thread: str | None = None
    ) -> Posted:
        answer = self._call(
            self.client.chat_postMessage,
            channel=channel,
            thread_ts=thread,
            unfurl_links=False,
            unfurl_media=False,
            **self._content(message, key),
        )
        self.ids[channel] = answer["channel"]
        return Posted(answer["channel"], answer["ts"])

    def update(self, message: ChatMessage, key: MessageKey, posted: Posted) -> None:
        self._call(
            self.client.chat_update,
            channel=posted.channel,
            ts=posted.ts,
            **self._content(message, key),
        )

    def find(
        self, key: MessageKey, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        where = self._id_of(channel)
        request = {"channel": where, "oldest": f"{since_ms / 1000:.6f}", "inclusive": True}
        look: Callable[..., Any] = self.client.conversations_history
        if thread:
            look, request["ts"] = self.client.conversations_replies, thread
        for page in self._pages(look, include_all_metadata=True, **request):
            for message in page["messages"]:
                if message.get("metadata") == _metadata(key):
                    return Posted(where, message["ts"])
        return None

    def _content(self, message: ChatMessage, key: MessageKey) -> dict[str, Any]:
        page = render(message, with_buttons=self.answers_buttons)
        return {
            "text": page.text,
            "blocks": list(page.blocks),
            "metadata": _metadata(key),
            "parse": "none",
            "link_names": False,
        }

    def _id_of(self, channel: str) -> str:
        """Look up the id of a channel: only posting takes a name."""
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
        """Call Slack, and once more after a short wait for its rate limit."""
        try:
            return _translated(method, **arguments)
        except ChatBusy as busy:
            if not self._may_wait(busy.retry_after_seconds):
                raise
            self.clock.sleep(busy.retry_after_seconds)
        return _translated(method, **arguments)

    def _may_wait(self, seconds: float) -> bool:
        now = self.clock.monotonic()
        if now - self._waited_since > WAIT_WINDOW_SECONDS:
            self._waited_since, self._waited = now, 0.0
        self._waited += seconds
        return seconds <= MAX_WAIT_SECONDS and self._waited <= MAX_WAITS_SECONDS


@dataclass(kw_only=True)
class SlackConnector:
    """Connects to Slack as soon as there is a token, and again when it has changed."""

    secrets: Secrets
    secret_name: str
    url: str
    """The address of the Web API; empty for Slack's own."""
    clock: Clock
    seconds_per_call: int = SECONDS_PER_CALL
    _connected: tuple[SlackSecret, SlackChat] | None = field(default=None, init=False)

    def connect(self) -> SlackChat | None:
        secret = read_slack_secret(self.secrets, self.secret_name)
        if secret is None:
            return None
        if self._connected is None or self._connected[0] != secret:
            self._connected = (secret, self._chat(secret))
        return self._connected[1]

    def _chat(self, secret: SlackSecret) -> SlackChat:
        from slack_sdk.web.client import WebClient  # noqa: PLC0415

        client = WebClient(
            token=secret.bot_token.get_secret_value(),
            timeout=self.seconds_per_call,
            retry_handlers=[],
            base_url=self.url or WebClient.BASE_URL,
        )
        return SlackChat(client=client, clock=self.clock, answers_buttons=secret.answers_buttons)


def _metadata(key: MessageKey) -> dict[str, Any]:
    payload = {"subject": str(key.subject), "openedAt": key.opened_at_ms, "part": key.part}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def _translated(method: Callable[..., Any], **arguments: Any) -> Any:
    from slack_sdk.errors import SlackApiError  # noqa: PLC0415

    try:
        return method(**arguments).data
    except SlackApiError as error:
        raise _error_in(error.response) from error
    except OSError as error:
        reason = getattr(error, "reason", error)
        kind = Unavailable if isinstance(reason, _NOT_SENT) else AnswerLost
        raise kind(f"Slack cannot be reached: {reason}") from error
    except HTTPException as error:
        raise AnswerLost(f"Slack's answer broke off: {error!r}") from error


def _error_in(response: Any) -> Exception:
    """Translate an answer of Slack that reports a failure."""
    status, headers = response.status_code, response.headers
    code = response.data.get("error", "") if isinstance(response.data, dict) else ""
    if status == HTTPStatus.TOO_MANY_REQUESTS or code == "ratelimited":
        return ChatBusy(_seconds(headers.get("Retry-After")))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or not code:
        return AnswerLost(f"Slack answered {status}")
    return refusal(code)


def refusal(code: str) -> Exception:
    """Translate an error code of Slack, and say what mends it."""
    if code in _UNKNOWN_OUTCOME:
        return AnswerLost(f"Slack answered {code}")
    if code in _GONE:
        return MessageGone(f"Slack answered {code}")
    fix = _FIXES.get(code)
    return ChatRefused(f"Slack answered {code}" + (f": {fix}" if fix else ""))


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return USUAL_WAIT_SECONDS
