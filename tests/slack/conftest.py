"""Tellers that speak to a Slack on loopback through the real SDK."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.alerts import MemoryAlertBook
from switchyard.adapters.slack import SlackDoor
from switchyard.domain.alerts.alerts import subject_in
from switchyard.domain.alerts.incidents import Incident
from switchyard.usecases.alerts.tell_alone import Told
from switchyard.usecases.alerts.tell_incident import Teller
from tests.fakes.slack_api import SlackApi, slack_api

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


class KnownSecrets(dict[str, str]):
    def text(self, name: str) -> str | None:
        return self.get(name)


@dataclass
class Stage:
    """What is left of a stage between two runs: the book, the clock and Slack."""

    slack: SlackApi
    clock: ManualClock
    book: MemoryAlertBook = field(default_factory=MemoryAlertBook)
    secrets: KnownSecrets = field(default_factory=lambda: KnownSecrets(slack="xoxb-token"))

    def run(self, incident: Incident, *, after: float = 60, channel: str = "#ops") -> Told:
        """As a new container would tell it, `after` so many seconds."""
        self.clock.advance(after)
        return self.teller(channel=channel).tell(incident)

    def teller(self, *, channel: str = "#ops", seconds_per_call: int = 5) -> Teller:
        door = SlackDoor(
            secrets=self.secrets,
            secret_name="slack",
            url=self.slack.url,
            clock=self.clock,
            seconds_per_call=seconds_per_call,
        )
        return Teller(book=self.book, door=door, channel=channel, clock=self.clock)

    @property
    def due(self) -> list[str]:
        return [subject_in(key) for key in self.book.due(now_ms=self.clock.now_ms(), limit=99)]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    clock = ManualClock()
    with slack_api(clock.now_ms) as slack:
        yield Stage(slack, clock)
        assert slack.refused == []
        assert slack.pinged == []
