"""Posts an alert for an incident, and updates it until the incident is over.

Publishing is level-triggered: a caller passes the incident as it *is*, as often as it likes, and
only a difference from the stored alert is posted. A message carries a key and is looked for by its
key before it is posted a second time, so that a lost answer doubles no message.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from switchyard.domain.alerts.alerts import (
    AFTER_REFUSAL,
    GIVEN_UP_AFTER,
    Alert,
    Publish,
    PublishResult,
    PublishStatus,
    Skip,
    Wait,
    alert_key,
    decide_publishing,
    needs_action,
    news_id,
    status_after,
)
from switchyard.domain.alerts.incidents import Incident, IncidentState
from switchyard.domain.alerts.subjects import Subject
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.ports import Clock
from switchyard.ports.alerting import (
    AlertStore,
    Chat,
    ChatBusy,
    ChatConnector,
    ChatMessage,
    ChatRefused,
    EmptyPage,
    IncidentNews,
    IncidentPage,
    MessageGone,
    MessageKey,
    Note,
    Posted,
)

PAUSE_MS: Final = 15_000
"""The time for which this process does not call the chat after it did not answer."""
CLOCKS_DIFFER_MS: Final = 120_000
"""The most by which the chat's clock and ours may be apart."""

Step = Callable[[Alert], tuple[Alert, PublishResult]]


@dataclass(frozen=True, slots=True)
class AlertLeases:
    """Lets one process at a time publish an alert; others request an update and leave."""

    store: AlertStore
    clock: Clock

    def publish(self, known: Alert, step: Step) -> tuple[Alert | None, PublishResult]:
        """Lease the alert, run `step` and save what it made of the alert."""
        leased = self.store.lease(known, now_ms=self.clock.now_ms())
        if leased is None:
            self.store.request_update(known.key, now_ms=self.clock.now_ms())
            return None, PublishResult(PublishStatus.POSTPONED, "another process is posting it")
        alert, result = step(leased)
        self.store.save(alert)
        return alert, result

    def wait(self, key: str, decision: Wait) -> PublishResult:
        if decision.request_update:
            self.store.request_update(key, now_ms=self.clock.now_ms())
        return PublishResult(PublishStatus.POSTPONED, decision.reason)


@dataclass(kw_only=True)
class AlertPublisher:
    store: AlertStore
    chats: ChatConnector
    channel: str
    """The channel of the stage."""
    clock: Clock
    _paused_until_ms: int = field(default=0, init=False)
    _busy_until_ms: dict[str, int] = field(default_factory=dict, init=False)
    """The end of the rate limit of each channel: each has a limit of its own."""
    _failures: set[tuple[PublishStatus, str]] = field(default_factory=set, init=False)

    def publish(self, incident: Incident) -> PublishResult:
        """Raise `Unavailable` if the store does not answer; a failure of the chat is a result."""
        result = self._publish(incident)
        if not result.status.failed:
            return result
        failure = (result.status, result.reason)
        result = replace(result, repeated=failure in self._failures)
        self._failures.add(failure)
        return result

    def needs_update(self, state: IncidentState) -> bool:
        """Whether publishing this state would do anything now."""
        known = self.store.find(alert_key(state))
        return needs_action(decide_publishing(state, known, now_ms=self.clock.now_ms()))

    def is_open(self, state: IncidentState) -> bool:
        """Whether readers see an open incident of this subject."""
        known = self.store.find(alert_key(state))
        return known is not None and known.open

    def main_message(self, subject: Subject) -> Posted | None:
        """The main message about a subject in the stage's channel, if there is one."""
        alert = self.store.find(str(subject))
        return Posted(alert.channel, alert.pages[0]) if alert and alert.pages else None

    def post_note(self, main: Posted, note: Note, key: MessageKey) -> str | None:
        """Post a note in the thread of a message; return why that failed, if it did."""
        try:
            chat = self.chats.connect()
            if chat is None:
                return "there is no token"
            chat.post(note, key, channel=main.channel, thread=main.ts)
        except (ChatRefused, Unavailable) as error:
            return str(error)
        return None

    def _publish(self, incident: Incident) -> PublishResult:
        known = self.store.find(alert_key(incident))
        decision = decide_publishing(incident, known, now_ms=self.clock.now_ms())
        match decision:
            case Skip():
                return PublishResult(PublishStatus.UNCHANGED, decision.reason)
            case Wait():
                return AlertLeases(self.store, self.clock).wait(alert_key(incident), decision)
            case Publish():
                return self._publish_to_chat(incident, decision)

    def _publish_to_chat(self, incident: Incident, decision: Publish) -> PublishResult:
        channel = incident.channel or self.channel
        if not channel:
            return PublishResult(PublishStatus.NOT_CONFIGURED, "no channel is named")
        try:
            chat = self._connect(channel)
        except Unavailable as error:
            postpone = partial(self._postponed, error=error, unsure=decision.known.unsure)
            return self._leased(decision, postpone)
        if chat is None:
            return PublishResult(PublishStatus.NOT_CONFIGURED, "there is no token")
        step = partial(self._post, chat=chat, incident=incident, decision=decision)
        return self._leased(decision, step)

    def _connect(self, channel: str) -> Chat | None:
        now_ms = self.clock.now_ms()
        if now_ms < self._paused_until_ms:
            raise Unavailable("the chat did not answer a moment ago")
        busy_ms = self._busy_until_ms.get(channel, 0) - now_ms
        if busy_ms > 0:
            raise ChatBusy(busy_ms / 1000)
        return self.chats.connect()

    def _leased(self, decision: Publish, step: Step) -> PublishResult:
        alert, result = AlertLeases(self.store, self.clock).publish(decision.known, step)
        if alert is None or result.status.failed:
            return result
        stored = self.store.find(alert.key)
        requested = stored is not None and stored.asks != alert.asks
        return replace(result, update_requested=requested)

    def _post(
        self, alert: Alert, *, chat: Chat, incident: Incident, decision: Publish
    ) -> tuple[Alert, PublishResult]:
        channel = incident.channel or self.channel
        messages = _Messages(chat, channel, incident, alert, unsure=decision.known.unsure)
        try:
            messages.post_all(news=decision.news)
        except (Unavailable, ChatRefused) as error:
            self._pause(error, channel)
            return self._postponed(messages.progress(), error=error, unsure=messages.unsure)
        alert = messages.progress().published(incident, now_ms=self.clock.now_ms())
        return alert, PublishResult(status_after(decision.known, alert), messages.remark)

    def _pause(self, error: Unavailable | ChatRefused, channel: str) -> None:
        now_ms = self.clock.now_ms()
        if isinstance(error, ChatBusy):
            self._busy_until_ms[channel] = now_ms + int(error.retry_after_seconds * 1000)
        elif isinstance(error, Unavailable):
            self._paused_until_ms = now_ms + PAUSE_MS

    def _postponed(
        self, alert: Alert, *, error: Unavailable | ChatRefused, unsure: bool
    ) -> tuple[Alert, PublishResult]:
        now_ms, wait_ms = self.clock.now_ms(), 0
        if isinstance(error, ChatBusy):
            wait_ms = int(error.retry_after_seconds * 1000)
        elif isinstance(error, ChatRefused):
            wait_ms = AFTER_REFUSAL
        postponed = alert.postponed(now_ms=now_ms, wait_ms=wait_ms, unsure=unsure)
        lasted_ms = now_ms - (postponed.postponed_since_ms or now_ms)
        if isinstance(error, ChatRefused) and lasted_ms >= GIVEN_UP_AFTER:
            postponed = postponed.given_up(now_ms=now_ms)
            return postponed, PublishResult(PublishStatus.GIVEN_UP, str(error))
        return postponed, PublishResult(PublishStatus.POSTPONED, str(error))


class _Messages:
    """The messages of one alert: its pages and, in the thread of the first page, its news.

    They are posted one by one; `progress` is the alert as far as that came when a step fails.
    """

    def __init__(
        self, chat: Chat, channel: str, incident: Incident, alert: Alert, *, unsure: bool
    ) -> None:
        self._chat, self._incident, self._alert = chat, incident, alert
        self._pages, self._channel = list(alert.pages), alert.channel or channel
        self._changed = False
        self.unsure = unsure
        """Whether a message may have been posted whose id is not known."""
        self.remark = ""

    def post_all(self, *, news: bool) -> None:
        """Post or update all pages, and then the news of this change if there are any."""
        count = self._chat.page_count(self._incident)
        for number in range(count):
            self._show(number)
        self._find_lost_pages()
        for number in range(count, len(self._pages)):
            with suppress(MessageGone):
                self._update(number, EmptyPage())
        part = news_id(self._incident)
        if news and self._pages and not self._find(part):
            self._post(IncidentNews(self._incident), part)

    def progress(self) -> Alert:
        alert = replace(self._alert, channel=self._channel, pages=tuple(self._pages))
        partial_state = alert.partial_fingerprint()
        return replace(alert, fingerprint=partial_state) if self._changed else alert

    def _show(self, number: int) -> None:
        if number < len(self._pages):
            self._update_page(number)
        elif found := self._find(f"page-{number}"):
            self._add_page(found)
            self._update_page(number)
        elif self._incident.open or self._incident.announced:
            self._post_page(number)

    def _find_lost_pages(self) -> None:
        """Find pages beyond those of now that a process posted which died or got no answer."""
        while self._pages and (lost := self._find(f"page-{len(self._pages)}")):
            self._add_page(lost)

    def _update_page(self, number: int) -> None:
        try:
            self._update(number, IncidentPage(self._incident, number))
        except MessageGone:
            del self._pages[number:]  # what follows in a thread is gone with it
            if self._incident.open:
                self._post_page(number)

    def _post_page(self, number: int) -> None:
        self._add_page(self._post(IncidentPage(self._incident, number), f"page-{number}"))

    def _update(self, number: int, message: ChatMessage) -> None:
        posted = Posted(self._channel, self._pages[number])
        self._chat.update(message, self._key(f"page-{number}"), posted)
        self._changed = True

    def _post(self, message: ChatMessage, part: str) -> Posted:
        key, thread = self._key(part), self._thread
        try:
            posted = self._chat.post(message, key, channel=self._channel, thread=thread)
        except AnswerLost:
            self.unsure = True
            raise
        self._changed = True
        return posted

    def _find(self, part: str) -> Posted | None:
        if not self.unsure:
            return None
        since_ms = (self._alert.trying_since_ms or 0) - CLOCKS_DIFFER_MS
        key, thread = self._key(part), self._thread
        try:
            return self._chat.find(key, channel=self._channel, since_ms=since_ms, thread=thread)
        except ChatRefused as error:  # posting it twice is better than not at all
            self.remark = f"posted without looking whether it is there: {error}"
            return None

    def _add_page(self, posted: Posted) -> None:
        self._channel = posted.channel
        self._pages.append(posted.ts)

    def _key(self, part: str) -> MessageKey:
        return MessageKey(self._incident.subject, self._alert.opened_at_ms, part)

    @property
    def _thread(self) -> str | None:
        return self._pages[0] if self._pages else None
