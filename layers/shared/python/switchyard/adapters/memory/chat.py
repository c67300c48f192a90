"""A chat in memory: what a reader would see."""

from dataclasses import dataclass, field, replace

from switchyard.domain.alerts.incident_rendering import Page
from switchyard.ports.alerting import Chat, Mark, MessageGone, Posted


@dataclass(frozen=True, slots=True)
class Message:
    channel: str
    ts: str
    thread: str | None
    mark: Mark
    page: Page


@dataclass
class MemoryChat:
    answers_buttons: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    now_ms: int = 0
    _posted: int = 0

    def post(self, page: Page, mark: Mark, *, channel: str, thread: str | None = None) -> Posted:
        self._posted += 1
        ts = f"{self.now_ms / 1000:.3f}{self._posted:03d}"
        self.messages[ts] = Message(channel, ts, thread, mark, page)
        return Posted(channel, ts)

    def update(self, page: Page, mark: Mark, posted: Posted) -> None:  # noqa: ARG002
        if posted.ts not in self.messages:
            raise MessageGone("there is no such message")
        self.messages[posted.ts] = replace(self.messages[posted.ts], page=page)

    def find(
        self, mark: Mark, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        for message in self.messages.values():
            late_enough = float(message.ts) * 1000 >= since_ms
            at = (message.mark, message.channel, message.thread)
            if late_enough and at == (mark, channel, thread):
                return Posted(message.channel, message.ts)
        return None


@dataclass
class MemoryDoor:
    chat: Chat | None

    def enter(self) -> Chat | None:
        return self.chat
