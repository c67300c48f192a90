"""Ports that publish incidents, and store what was published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.stage_incidents import Alarm
from switchyard.domain.alerts.subjects import Subject
from switchyard.domain.errors import Rejected, Unavailable


@dataclass(frozen=True, slots=True)
class MessageKey:
    """The metadata of a message, by which it is found again if its id was lost."""

    subject: Subject
    opened_at_ms: int
    part: str


@dataclass(frozen=True, slots=True)
class Posted:
    """The place of a posted message."""

    channel: str
    """The channel's id in the chat."""
    ts: str
    """The message's id within its channel."""


@dataclass(frozen=True, slots=True)
class IncidentPage:
    """A message that shows an incident: page 0 in the channel, the rest in its thread."""

    incident: Incident
    number: int


@dataclass(frozen=True, slots=True)
class IncidentNews:
    """The message in the thread about the latest change of an incident."""

    incident: Incident


@dataclass(frozen=True, slots=True)
class EmptyPage:
    """Replaces a page that the incident does not need any more."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark in the thread of an incident, in plain text."""

    text: str
    user_id: str | None = None
    """The user whom the remark begins with and is about."""


ChatMessage = IncidentPage | IncidentNews | EmptyPage | Note


class ChatRefused(Rejected):
    """The chat refuses until a person has changed something; the error's text says what."""


class MessageGone(ChatRefused):
    """The message was deleted, or cannot be changed any more."""


class ChatBusy(Unavailable):
    """The chat's rate limit is reached, and nothing was done."""

    def __init__(self, retry_after_seconds: float) -> None:
        super().__init__(f"asked to wait for {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds


class Chat(Protocol):
    """Shows incidents to people.

    Every call may raise `ChatRefused`, `ChatBusy` or `Unavailable`; then nothing was done. Posting
    and updating may also raise `AnswerLost`: it is not known whether it was done.
    """

    def page_count(self, incident: Incident) -> int:
        """The number of pages that the incident takes, at least one."""

    def post(
        self, message: ChatMessage, key: MessageKey, *, channel: str, thread: str | None = None
    ) -> Posted:
        """Post a message, in the thread of the message whose `ts` is `thread`."""

    def update(self, message: ChatMessage, key: MessageKey, posted: Posted) -> None:
        """Replace the content of a posted message. Also raise `MessageGone`."""

    def find(
        self, key: MessageKey, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        """Find the message with this key among those posted since, by the chat's own clock."""


class ChatConnector(Protocol):
    def connect(self) -> Chat | None:
        """Return `None` as long as no chat is set up. Raise `Unavailable`."""


class AlertStore(Protocol):
    """Stores alerts, and leases each to one process at a time."""

    def find(self, key: str) -> Alert | None: ...

    def lease(self, known: Alert, *, now_ms: int) -> Alert | None:
        """Store and return `known.leased()`, or `None` if it was leased since `known` was read.

        A process that dies leaves the alert as it is: due when its lease ends, and unsure.
        """

    def save(self, alert: Alert) -> bool:
        """Save the alert and end its lease; `False` if another process has leased it since.

        An update that another process requested in the meantime stays due.
        """

    def request_update(self, key: str, *, now_ms: int) -> None:
        """Have the alert's subject checked again; do nothing if there is no such alert."""

    def due(self, *, now_ms: int, limit: int) -> Sequence[str]:
        """The keys of alerts that are due, longest due first; new ones may be missing."""


class Webhooks(Protocol):
    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Send one request to exactly this URL; no redirect is followed.

        Raise `Unavailable` unless the answer is a success; the request may have arrived all the
        same. The error's text contains nothing of the answer.
        """


class Alarms(Protocol):
    def find(self, name: str) -> Alarm | None:
        """The alarm as it is at this moment. Raise `Unavailable`."""


class Secrets(Protocol):
    def text(self, name: str) -> str | None:
        """Return `None` when there is no secret of that name. Raise `Unavailable`."""
