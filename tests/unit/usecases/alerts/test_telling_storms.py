"""Whatever goes wrong with the chat, and whenever a teller dies: no message is posted twice, and in
the end people are told what is."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.alerts import MemoryAlertBook
from switchyard.adapters.memory.chat import MemoryChat, MemoryDoor
from switchyard.domain.alerts.alerts import LEASE
from switchyard.domain.alerts.incident_rendering import Page
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.errors import AnswerLost, Unavailable
from switchyard.ports.alerting import Chat, ChatBusy, ChatRefused, Mark, Posted
from switchyard.usecases.alerts.retell_alerts import AT_ONCE
from switchyard.usecases.alerts.tell_alone import Telling
from switchyard.usecases.alerts.tell_incident import Teller
from tests.fakes.slack_text import shown
from tests.slack.incidents import an_incident, over, stuck

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
    """The process of a teller, at any moment."""


@dataclass
class Weather:
    """Does to each call what chance says, before or after it is done."""

    chat: MemoryChat
    chance: random.Random
    stormy: bool = True
    answers_buttons: bool = False
    troubles: Counter[str] = field(default_factory=Counter)

    def enter(self) -> Chat:
        return self

    def post(self, page: Page, mark: Mark, *, channel: str, thread: str | None = None) -> Posted:
        return self._through(lambda: self.chat.post(page, mark, channel=channel, thread=thread))

    def update(self, page: Page, mark: Mark, posted: Posted) -> None:
        self._through(lambda: self.chat.update(page, mark, posted))

    def find(
        self, mark: Mark, *, channel: str, since_ms: int, thread: str | None = None
    ) -> Posted | None:
        return self._through(
            lambda: self.chat.find(mark, channel=channel, since_ms=since_ms, thread=thread),
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
class Yard:
    seed: int

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.clock = ManualClock()
        self.book = MemoryAlertBook()
        self.chat = MemoryChat()
        self.weather = Weather(self.chat, self.chance)

    def run(self, incident: Incident) -> Telling | None:
        self.clock.advance(self.chance.choice([1, 30, 300, 1_000]))
        self.chat.now_ms = self.clock.now_ms()
        teller = Teller(book=self.book, door=self.weather, channel="#ops", clock=self.clock)
        try:
            return teller.tell(incident).telling
        except Died:
            return None

    def calm_down(self, *incidents: Incident) -> None:
        self.weather.stormy = False
        for incident in incidents:
            self.clock.advance(LEASE / 1000 + 600)
            self.run(incident)
            assert self.run(incident) is Telling.UNCHANGED


def headlines(chat: MemoryChat, subject: str) -> list[str]:
    mains = [m for m in chat.messages.values() if m.thread is None and m.mark.subject == subject]
    return [shown(main.page.blocks).split("\n")[0] for main in mains]


@dataclass
class StrictChat(MemoryChat):
    """One message a second, as Slack has it; whoever does not wait as asked is shown the door."""

    clock: ManualClock = field(default_factory=ManualClock)
    next_at_ms: int = 0
    asked_to_wait_until_ms: int = 0

    def post(self, page: Page, mark: Mark, *, channel: str, thread: str | None = None) -> Posted:
        now_ms = self.clock.now_ms()
        assert now_ms >= self.asked_to_wait_until_ms, "it was asked to wait"
        if now_ms < self.next_at_ms:
            self.asked_to_wait_until_ms = now_ms + 20_000
            raise ChatBusy(20)
        self.next_at_ms = now_ms + 1_000
        return super().post(page, mark, channel=channel, thread=thread)


def test_many_jobs_that_fail_in_one_minute_are_told_one_by_one_and_none_is_lost() -> None:
    clock, book = ManualClock(), MemoryAlertBook()
    chat = StrictChat(clock=clock)
    teller = Teller(book=book, door=MemoryDoor(chat), channel="#ops", clock=clock)
    incidents = {f"job/acme/{n}": an_incident(subject=f"job/acme/{n}") for n in range(120)}
    for incident in incidents.values():
        teller.tell(incident)
        clock.advance(0.06)
    minutes = 0
    while len(chat.messages) < len(incidents):
        minutes += 1
        assert minutes < 200
        for subject in book.due(now_ms=clock.now_ms(), limit=AT_ONCE):
            teller.tell(incidents[subject])
            clock.advance(0.06)
        clock.advance(60)
    told = [message.mark.subject for message in chat.messages.values()]
    assert sorted(told) == sorted(incidents)
    assert book.due(now_ms=clock.now_ms() + 10**9, limit=9) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_storm_everything_is_told_once_and_as_it_is(seed: int) -> None:
    yard = Yard(seed)
    now = {incident.subject: incident for incident in STATES[::3]}
    for _ in range(40):
        changed = yard.chance.choice(STATES)
        now[changed.subject] = changed
        for incident in now.values():
            yard.run(incident)
    yard.calm_down(*now.values())
    assert yard.book.due(now_ms=yard.clock.now_ms() + 10**9, limit=9) == []
    marks = Counter((m.mark, m.thread) for m in yard.chat.messages.values())
    pages = {mark: n for (mark, _), n in marks.items() if mark.part.startswith("page")}
    assert set(pages.values()) <= {1}
    for subject, incident in now.items():
        told = headlines(yard.chat, subject)
        still_open = [headline for headline in told if "✅" not in headline]
        assert len(still_open) == incident.open
        assert all(incident.title in headline for headline in still_open)
    assert all(yard.weather.troubles.values())
