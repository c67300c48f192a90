"""The worker's side of the queue, written down, and with the switches that are about messages."""

import hashlib
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from switchyard.contracts.messages import REQUEST_ID_ATTRIBUTE
from switchyard.ports import Clock, Received, TaskInbox
from switchyard_scenarios.reporting.journal import Journal
from switchyard_scenarios.switched.switches import WorkerSwitches

PAUSE_SECONDS: Final = 0.2
PRODUCED_AT: Final = "producedAt"
"""A message attribute: when the producer says it made the message, in ms."""


def ask_to_stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def name_of(message: Received) -> str:
    """The id that its producer gave it; without one, SQS's own."""
    attribute = message.attributes.get(REQUEST_ID_ATTRIBUTE)
    return (attribute.string_value if attribute else None) or message.message_id


class Refusing(Protocol):
    def refuse(self, message_id: str, reason: str, *, payload_digest: str) -> object:
        """Report that the message was not handled, and why."""


class Bodies:
    """The contents of the messages, which effects need."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}

    def keep(self, message: Received) -> None:
        """The first one: a wake-up that follows it has nothing to say."""
        self._bodies.setdefault(name_of(message), message.body)

    def of(self, message: str) -> str:
        return self._bodies.get(message, "")

    def digest_of(self, message: str) -> str:
        return hashlib.sha256(self.of(message).encode()).hexdigest()


class SwitchedInbox:
    def __init__(
        self,
        inbox: TaskInbox,
        switches: WorkerSwitches,
        *,
        journal: Journal,
        bodies: Bodies,
        effects: Refusing,
        clock: Clock,
        stop: Callable[[], None] = ask_to_stop,
        parent: Callable[[], int] = os.getppid,
    ) -> None:
        self._inbox = inbox
        self._switches = switches
        self._journal = journal
        self._bodies = bodies
        self._effects = effects
        self._clock = clock
        self._stop = stop
        self._parent = parent
        self._started_by = parent()
        self._received = 0
        self._put_back = 0
        self._done = 0
        self._extensions: Counter[str] = Counter()

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]:
        if self._parent() != self._started_by:  # the process that would stop it is gone
            self._stop()
            return ()
        allowed = self._allowed(at_most)
        if allowed == 0:  # what it has is not done yet
            self._clock.sleep(PAUSE_SECONDS)
            return ()
        messages = self._inbox.receive(
            at_most=allowed,
            wait_seconds=wait_seconds,
            visibility_seconds=self._switches.receive_visibility_seconds or visibility_seconds,
        )
        for message in messages:
            self._journal.note(
                "received",
                name_of(message),
                receipt=message.receipt[-16:],
                batch=self._received,
            )
            self._bodies.keep(message)
        self._received += len(messages)
        return [message for message in messages if not self._is_discarded(message)]

    def extend(self, message: Received, *, seconds: int) -> None:
        """Extend only every n-th time; a message that is put back is put back in any case."""
        if seconds == 0:
            self._inbox.extend(message, seconds=0)
            self._journal.note("put back", name_of(message))
            self._put_back += 1
            return
        self._extensions[message.receipt] += 1
        if self._extensions[message.receipt] % self._switches.extend_every_n == 0:
            longer = self._switches.visibility_extension_seconds or seconds
            self._inbox.extend(message, seconds=longer)
            self._journal.note("extended", name_of(message), seconds=longer)

    def delete(self, *messages: Received) -> None:
        if not self._switches.no_delete_after_process:
            self._inbox.delete(*messages)
        act = "not deleted" if self._switches.no_delete_after_process else "deleted"
        for message in messages:
            self._journal.note(act, name_of(message))
        self._done_with(len(messages))

    def _allowed(self, at_most: int) -> int:
        if self._switches.message_limit is None:
            return at_most
        taken = self._received - self._put_back
        return min(at_most, self._switches.message_limit - taken)

    def _done_with(self, messages: int) -> None:
        self._done += messages
        if self._done == self._switches.message_limit:
            self._stop()

    def _is_discarded(self, message: Received) -> bool:
        """Report a stale message in any case."""
        limit, age = self._switches.stale_after_seconds, self._age_seconds(message)
        if limit is None or age <= limit:
            return False
        self._journal.note("stale", name_of(message), age_seconds=round(age))
        if self._switches.stale_messages == "process":
            return False
        reason = f"stale: {age:.0f} s old, at most {limit:g} s are allowed"
        self._effects.refuse(
            name_of(message), reason, payload_digest=self._bodies.digest_of(name_of(message))
        )
        self._inbox.delete(message)
        self._done_with(1)
        return True

    def _age_seconds(self, message: Received) -> float:
        reported = message.attributes.get(PRODUCED_AT)
        made_ms = int(reported.string_value or 0) if reported else message.sent_at_ms
        return (self._clock.now_ms() - made_ms) / 1000
