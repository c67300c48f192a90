"""A line in a thread, said once: about an incident, but no news of it."""

from dataclasses import dataclass
from typing import Any

from switchyard.domain.alerts.incident_rendering import Page
from switchyard.domain.errors import Unavailable
from switchyard.ports.alerting import AlertBook, ChatDoor, ChatRefused, Mark


@dataclass(frozen=True, slots=True)
class Thread:
    channel: str
    ts: str


@dataclass(frozen=True, kw_only=True)
class ThreadNotes:
    book: AlertBook
    door: ChatDoor

    def thread_of(self, subject: str) -> Thread | None:
        """Where the stage's people were told of it, if they were."""
        alert = self.book.find(subject)
        return Thread(alert.channel, alert.pages[0]) if alert and alert.pages else None

    def add(self, thread: Thread, text: str, mark: Mark) -> str | None:
        """What kept it from being said, if anything did: nothing depends on it.

        `text` is as Slack shows it: what others wrote in it is escaped already.
        """
        try:
            chat = self.door.enter()
            if chat is None:
                return "there is no token"
            chat.post(_page(text), mark, channel=thread.channel, thread=thread.ts)
        except (ChatRefused, Unavailable) as error:
            return str(error)
        return None


def _page(text: str) -> Page:
    said: dict[str, Any] = {"type": "mrkdwn", "text": text, "verbatim": True}
    return Page(text, ({"type": "section", "text": said},))
