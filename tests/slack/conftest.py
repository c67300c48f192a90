"""Publishers of alerts that call a Slack API on loopback through the real SDK."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from switchyard.adapters.slack.chat import SlackConnector
from switchyard.domain.alerts.alerts import PublishResult, subject_in_key
from switchyard.domain.alerts.incidents import Incident
from switchyard.testing import ManualClock
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from tests.fakes.slack.api import SlackApi, slack_api

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


class KnownSecrets(dict[str, str]):
    def text(self, name: str) -> str | None:
        return self.get(name)


@dataclass
class Stage:
    """The parts of a stage that last between two runs: the alert store, the clock and Slack."""

    slack: SlackApi
    clock: ManualClock
    store: MemoryAlertStore = field(default_factory=MemoryAlertStore)
    secrets: KnownSecrets = field(default_factory=lambda: KnownSecrets(slack="xoxb-token"))

    def run(self, incident: Incident, *, after: float = 60, channel: str = "#ops") -> PublishResult:
        """Publish it as a new container would, after so many seconds."""
        self.clock.advance(after)
        return self.publisher(channel=channel).publish(incident)

    def publisher(self, *, channel: str = "#ops", seconds_per_call: int = 5) -> AlertPublisher:
        chats = SlackConnector(
            secrets=self.secrets,
            secret_name="slack",
            url=self.slack.url,
            clock=self.clock,
            seconds_per_call=seconds_per_call,
        )
        return AlertPublisher(store=self.store, chats=chats, channel=channel, clock=self.clock)

    @property
    def due(self) -> list[str]:
        return [subject_in_key(key) for key in self.store.due(now_ms=self.clock.now_ms(), limit=99)]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    clock = ManualClock()
    with slack_api(clock.now_ms) as slack:
        yield Stage(slack, clock)
        assert slack.refused == []
        assert slack.pinged == []
