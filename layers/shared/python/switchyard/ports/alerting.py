"""Where people are told of incidents, and what is remembered of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.alerts.alarm_incident import Alarm
from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.alerts.incident_rendering import Page
from switchyard.domain.errors import Rejected, Unavailable


@dataclass(frozen=True, slots=True)
class Mark:
    """By which a message is found again: of one incident, opened at one time, one part."""

    subject: str
    opened_at_ms: int
    part: str


@dataclass(frozen=True, slots=True)
class Posted:
    channel: str
    """As the chat itself calls it."""
    ts: str


class ChatRefused(Rejected):
    """The chat will say no until a person has changed something: the message says what."""


class MessageGone(ChatRefused):
    """Somebody removed it, or it cannot be changed any more."""


class ChatBusy(Unavailable):
    """Nothing was done: there were too many at once."""

    def __init__(self, retry_after_seconds: float) -> None:
        super().__init__(f"asked to wait for {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds


class Chat(Protocol):
    """Every call may raise `ChatRefused`, `ChatBusy`, or `Unavailable`; then nothing was done.

    A change may also raise `AnswerLost`: nobody knows whether it was done.
    """

    @property
    def answers_buttons(self) -> bool:
        """Whether somebody listens to what is pressed."""

    def post(self, page: Page, mark: Mark, *, channel: str, thread: str | None = None) -> Posted:
        """`thread` is the `ts` of the message that this one answers."""

    def update(self, page: Page, mark: Mark, posted: Posted) -> None:
        """Also raise `MessageGone`."""

    def find(
        self, mark: Mark, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        """The message of this mark, if it was posted since; by the chat's own clock."""


class ChatDoor(Protocol):
    def enter(self) -> Chat | None:
        """`None` as long as nobody has set up a chat. Raise `Unavailable`."""


class AlertBook(Protocol):
    """What was told of each subject. Of several tellers at once one may tell."""

    def find(self, key: str) -> Alert | None: ...

    def take(self, known: Alert, *, now_ms: int) -> Alert | None:
        """`known.begun()`, stored: the right to tell; `None` if another took it since it was read.

        A teller that dies leaves it as it is: due when its lease is over, and unsure.
        """

    def save(self, alert: Alert) -> bool:
        """Give the right back; `False` if it was lost to another, who will save.

        What another asked for meanwhile stays due.
        """

    def ask(self, key: str, *, now_ms: int) -> None:
        """Have it looked at again: the teller at work may not know the latest."""

    def due(self, *, now_ms: int, limit: int) -> Sequence[str]:
        """The keys of those that are due by then, longest due first; it may lag behind."""


class Alarms(Protocol):
    def find(self, name: str) -> Alarm | None:
        """As it is at this moment. Raise `Unavailable`."""


class Secrets(Protocol):
    def text(self, name: str) -> str | None:
        """`None` when there is none of that name. Raise `Unavailable`."""
