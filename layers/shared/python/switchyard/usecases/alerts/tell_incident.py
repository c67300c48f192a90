"""Brings what people are told in line with what is.

Level-triggered: whoever calls it says what *is*, as often as they like. What was told is in the
book; only a difference is told. A message is marked before it is posted for the first time, and
looked for by its mark before it is posted a second time: a lost answer doubles nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from switchyard.domain.alerts.alerts import (
    AFTER_REFUSAL,
    GIVEN_UP_AFTER,
    Alert,
    Leave,
    Tell,
    Wait,
    book_key,
    decide_telling,
    is_news,
)
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.errors import Unavailable
from switchyard.ports import Clock
from switchyard.ports.alerting import AlertBook, Chat, ChatBusy, ChatDoor, ChatRefused
from switchyard.usecases.alerts.conversation import Conversation
from switchyard.usecases.alerts.tell_alone import Telling, Told, Turns

REST_MS: Final = 15_000
"""After the chat did not answer, nobody is kept waiting for it again so soon."""


@dataclass(kw_only=True)
class Teller:
    book: AlertBook
    door: ChatDoor
    channel: str
    """The stage's."""
    clock: Clock
    _rest_until_ms: int = field(default=0, init=False)
    _busy_until_ms: dict[str, int] = field(default_factory=dict, init=False)
    """By channel: each has a limit of its own."""
    _troubles: set[tuple[Telling, str]] = field(default_factory=set, init=False)

    @property
    def _turns(self) -> Turns:
        return Turns(self.book, self.clock)

    def tell(self, incident: Incident) -> Told:
        """Never raises for the chat's sake; `Unavailable` if the book does not answer."""
        told = self._tell(incident)
        trouble = (told.telling, told.reason)
        if not told.telling.troubled:
            return told
        told = replace(told, said_before=trouble in self._troubles)
        self._troubles.add(trouble)
        return told

    def has_news(self, incident: Incident) -> bool:
        """Whether to tell it would do anything now."""
        known = self.book.find(book_key(incident))
        return is_news(decide_telling(incident, known, now_ms=self.clock.now_ms()))

    def is_open(self, incident: Incident) -> bool:
        """Whether people believe that it is going on."""
        known = self.book.find(book_key(incident))
        return known is not None and known.open

    def _tell(self, incident: Incident) -> Told:
        known = self.book.find(book_key(incident))
        decision = decide_telling(incident, known, now_ms=self.clock.now_ms())
        match decision:
            case Leave():
                return Told(Telling.UNCHANGED, decision.reason)
            case Wait():
                return self._turns.waited(book_key(incident), decision)
            case Tell():
                return self._if_there_is_a_chat(incident, decision)

    def _if_there_is_a_chat(self, incident: Incident, decision: Tell) -> Told:
        channel = incident.channel or self.channel
        if not channel:
            return Told(Telling.NOT_CONFIGURED, "no channel is named")
        try:
            chat = self._enter(channel)
        except Unavailable as error:
            later = partial(self._later, error=error, unsure=decision.known.unsure)
            return self._take(decision, later)
        if chat is None:
            return Told(Telling.NOT_CONFIGURED, "there is no token")
        talk = Conversation(chat=chat, channel=channel, incident=incident)
        return self._take(decision, partial(self._say, talk=talk, decision=decision))

    def _enter(self, channel: str) -> Chat | None:
        now_ms = self.clock.now_ms()
        if now_ms < self._rest_until_ms:
            raise Unavailable("the chat did not answer a moment ago")
        busy_ms = self._busy_until_ms.get(channel, 0) - now_ms
        if busy_ms > 0:
            raise ChatBusy(busy_ms / 1000)
        return self.door.enter()

    def _take(self, decision: Tell, act: Callable[[Alert], tuple[Alert, Told]]) -> Told:
        alert, told = self._turns.taken(decision.known, act)
        if alert is None or told.telling.troubled:
            return told
        return replace(told, asked=self._asked(alert))

    def _asked(self, alert: Alert) -> bool:
        known = self.book.find(alert.key)
        return known is not None and known.asks != alert.asks

    def _say(self, alert: Alert, *, talk: Conversation, decision: Tell) -> tuple[Alert, Told]:
        talk.begin(alert, unsure=decision.known.unsure)
        try:
            talk.bring_in_line(news=decision.news)
        except Unavailable as error:
            self._rest(error, talk.named)
            return self._later(talk.so_far(), error=error, unsure=talk.unsure)
        except ChatRefused as error:
            return self._refused(talk.so_far(), error=error, unsure=talk.unsure)
        alert = talk.so_far().told(talk.incident, now_ms=self.clock.now_ms())
        return alert, Told(_telling(alert, decision.known), talk.remark)

    def _rest(self, error: Unavailable, channel: str) -> None:
        now_ms = self.clock.now_ms()
        if isinstance(error, ChatBusy):
            self._busy_until_ms[channel] = now_ms + int(error.retry_after_seconds * 1000)
        else:
            self._rest_until_ms = now_ms + REST_MS

    def _later(self, alert: Alert, *, error: Unavailable, unsure: bool) -> tuple[Alert, Told]:
        wait = error.retry_after_seconds if isinstance(error, ChatBusy) else 0.0
        now_ms = self.clock.now_ms()
        postponed = alert.postponed(now_ms=now_ms, wait_ms=int(wait * 1000), unsure=unsure)
        return postponed, Told(Telling.POSTPONED, str(error))

    def _refused(self, alert: Alert, *, error: ChatRefused, unsure: bool) -> tuple[Alert, Told]:
        now_ms = self.clock.now_ms()
        postponed = alert.postponed(now_ms=now_ms, wait_ms=AFTER_REFUSAL, unsure=unsure)
        if now_ms - (postponed.postponed_since_ms or now_ms) >= GIVEN_UP_AFTER:
            return postponed.given_up(now_ms=now_ms), Told(Telling.GIVEN_UP, str(error))
        return postponed, Told(Telling.POSTPONED, str(error))


def _telling(alert: Alert, known: Alert) -> Telling:
    if not alert.pages:
        return Telling.UNCHANGED
    if not alert.open:
        return Telling.RECOVERED
    return Telling.UPDATED if known.open else Telling.POSTED
