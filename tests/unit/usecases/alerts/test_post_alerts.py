"""Whatever goes wrong with the chat, and whenever a process dies, no message is posted twice, and
in the end the messages show what is."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from switchyard.domain.alerts.alerts import LEASE, PublishStatus
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.subjects import Subject
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.ports.alerting import (
    Chat,
    ChatBusy,
    ChatMessage,
    ChatRefused,
    MessageKey,
    Posted,
)
from switchyard.testing import ManualClock
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.chat import MemoryChat, MemoryConnector
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.report_incidents import MAX_DUE_AT_ONCE
from tests.fakes.slack.text import seen_in_slack
from tests.slack.incidents import an_incident, job_subject, over, stuck

R = TypeVar("R")
SEEDS = range(40)
STATES = (
    an_incident("partly failed"),
    an_incident("failed"),
    over(),
    stuck(1),
    stuck(100),
    stuck(0),
)


class Died(Exception):
    """The process died, at any moment."""


@dataclass
class Weather:
    """Does to each call what chance says, before or after it is done."""

    chat: MemoryChat
    chance: random.Random
    stormy: bool = True
    troubles: Counter[str] = field(default_factory=Counter)

    def connect(self) -> Chat:
        return self

    def page_count(self, incident: Incident) -> int:
        return self.chat.page_count(incident)

    def post(
        self, message: ChatMessage, key: MessageKey, *, channel: str, thread: str | None = None
    ) -> Posted:
        return self._through(lambda: self.chat.post(message, key, channel=channel, thread=thread))

    def update(self, message: ChatMessage, key: MessageKey, posted: Posted) -> None:
        self._through(lambda: self.chat.update(message, key, posted))

    def find(
        self, key: MessageKey, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        return self._through(
            lambda: self.chat.find(key, channel=channel, since_ms=since_ms, thread=thread),
            changes=False,
        )

    def _through(self, call: Callable[[], R], *, changes: bool = True) -> R:
        if self.stormy and self.chance.random() < 0.3:
            self._before(changes)
        answer = call()
        if self.stormy and self.chance.random() < 0.2:
            self.troubles["after"] += 1
            raise self.chance.choice([AnswerLost("cut"), Died()] if changes else [Died()])
        return answer

    def _before(self, changes: bool) -> None:
        self.troubles["before"] += 1
        known = [ChatBusy(40), Unavailable("refused"), Died()]
        if changes:  # a look that is refused is answered by posting again, which may double
            known += [AnswerLost("cut"), ChatRefused("not in the channel")]
        raise self.chance.choice(known)


@dataclass
class StormHarness:
    seed: int

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.clock = ManualClock()
        self.store = MemoryAlertStore()
        self.chat = MemoryChat()
        self.weather = Weather(self.chat, self.chance)

    def run(self, incident: Incident) -> PublishStatus | None:
        self.clock.advance(self.chance.choice([1, 30, 300, 1_000]))
        self.chat.now_ms = self.clock.now_ms()
        publisher = AlertPublisher(
            store=self.store, chats=self.weather, channel="#ops", clock=self.clock
        )
        try:
            return publisher.publish(incident).status
        except Died:
            return None

    def calm_down(self, *incidents: Incident) -> None:
        self.weather.stormy = False
        for incident in incidents:
            self.clock.advance(LEASE / 1000 + 600)
            self.run(incident)
            assert self.run(incident) is PublishStatus.UNCHANGED


def headlines(chat: MemoryChat, subject: Subject) -> list[str]:
    mains = [m for m in chat.messages.values() if m.thread is None and m.key.subject == subject]
    return [seen_in_slack(main.content).split("\n")[0] for main in mains]


@dataclass
class StrictChat(MemoryChat):
    """A chat that takes one message a second, and fails a caller that does not wait as asked."""

    clock: ManualClock = field(default_factory=ManualClock)
    next_at_ms: int = 0
    asked_to_wait_until_ms: int = 0

    def post(
        self, message: ChatMessage, key: MessageKey, *, channel: str, thread: str | None = None
    ) -> Posted:
        now_ms = self.clock.now_ms()
        assert now_ms >= self.asked_to_wait_until_ms, "it was asked to wait"
        if now_ms < self.next_at_ms:
            self.asked_to_wait_until_ms = now_ms + 20_000
            raise ChatBusy(20)
        self.next_at_ms = now_ms + 1_000
        return super().post(message, key, channel=channel, thread=thread)


def test_many_jobs_that_fail_in_one_minute_are_posted_one_by_one_and_none_is_lost() -> None:
    clock, store = ManualClock(), MemoryAlertStore()
    chat = StrictChat(clock=clock)
    publisher = AlertPublisher(
        store=store, chats=MemoryConnector(chat), channel="#ops", clock=clock
    )
    incidents = {f"job/acme/{n}": an_incident(subject=job_subject(str(n))) for n in range(120)}
    for incident in incidents.values():
        publisher.publish(incident)
        clock.advance(0.06)
    minutes = 0
    while len(chat.messages) < len(incidents):
        minutes += 1
        assert minutes < 200
        for subject in store.due(now_ms=clock.now_ms(), limit=MAX_DUE_AT_ONCE):
            publisher.publish(incidents[subject])
            clock.advance(0.06)
        clock.advance(60)
    emitted = [str(message.key.subject) for message in chat.messages.values()]
    assert sorted(emitted) == sorted(incidents)
    assert store.due(now_ms=clock.now_ms() + 10**9, limit=9) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_storm_everything_is_posted_once_and_as_it_is(seed: int) -> None:
    harness = StormHarness(seed)
    now = {incident.subject: incident for incident in STATES[::3]}
    for _ in range(40):
        changed = harness.chance.choice(STATES)
        now[changed.subject] = changed
        for incident in now.values():
            harness.run(incident)
    harness.calm_down(*now.values())
    assert harness.store.due(now_ms=harness.clock.now_ms() + 10**9, limit=9) == []
    keys = Counter((m.key, m.thread) for m in harness.chat.messages.values())
    pages = {key: n for (key, _), n in keys.items() if key.part.startswith("page")}
    assert set(pages.values()) <= {1}
    for subject, incident in now.items():
        emitted = headlines(harness.chat, subject)
        still_open = [headline for headline in emitted if "✅" not in headline]
        assert len(still_open) == incident.open
        assert all(incident.title in headline for headline in still_open)
    assert all(harness.weather.troubles.values())
