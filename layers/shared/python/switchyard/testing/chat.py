"""A chat in memory, for tests: it keeps messages as they were passed, and renders nothing."""

from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.alerts.incidents import Incident
from switchyard.ports.alerting import (
    Chat,
    ChatMessage,
    EmptyPage,
    IncidentNews,
    IncidentPage,
    MessageGone,
    MessageKey,
    Note,
    Posted,
)

SECTIONS_PER_PAGE: Final = 45


@dataclass(frozen=True, slots=True)
class Message:
    channel: str
    ts: str
    thread: str | None
    key: MessageKey
    content: ChatMessage

    @property
    def text(self) -> str:
        """The message in one line of plain text."""
        match self.content:
            case IncidentPage(incident, number):
                return f"{incident.title} ({number})" if number else incident.title
            case IncidentNews(incident):
                return incident.news or incident.title
            case EmptyPage():
                return "nothing more"
            case Note(text, user_id):
                return f"{user_id}: {text}" if user_id else text


@dataclass
class MemoryChat:
    messages: dict[str, Message] = field(default_factory=dict)
    now_ms: int = 0
    _posted: int = 0

    def page_count(self, incident: Incident) -> int:
        return max(1, -(-len(incident.sections) // SECTIONS_PER_PAGE))

    def post(
        self, message: ChatMessage, key: MessageKey, *, channel: str, thread: str | None = None
    ) -> Posted:
        self._posted += 1
        ts = f"{self.now_ms / 1000:.3f}{self._posted:03d}"
        self.messages[ts] = Message(channel, ts, thread, key, message)
        return Posted(channel, ts)

    def update(self, message: ChatMessage, key: MessageKey, posted: Posted) -> None:  # noqa: ARG002
        if posted.ts not in self.messages:
            raise MessageGone("there is no such message")
        self.messages[posted.ts] = replace(self.messages[posted.ts], content=message)

    def find(
        self, key: MessageKey, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        for message in self.messages.values():
            late_enough = float(message.ts) * 1000 >= since_ms
            at = (message.key, message.channel, message.thread)
            if late_enough and at == (key, channel, thread):
                return Posted(message.channel, message.ts)
        return None


@dataclass
class MemoryConnector:
    chat: Chat | None

    def connect(self) -> Chat | None:
        return self.chat
