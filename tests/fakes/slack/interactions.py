"""A failed job in memory, and buttons in Slack that its operators press."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from switchyard.adapters.slack.interactions import Answer, SlackInteractions
from switchyard.adapters.slack.requests import SlackRequest
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.chat import MemoryChat, MemoryConnector
from switchyard.testing.deduplication import MemoryDeduplication
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.press_button import ButtonPresses
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.held_harness import a_decider
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.slack.press import SECRET, USER, a_payload, form_of, signed


@dataclass
class Replies:
    """The replies that only the user who pressed sees."""

    texts: list[str] = field(default_factory=list)
    down: bool = False

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        if self.down:
            raise Unavailable("it answered 500")
        said = json.loads(body)
        assert (said["response_type"], said["replace_original"]) == ("ephemeral", False)
        self.texts.append(said["text"])


@dataclass
class HeldSecret:
    secret: str | None = SECRET

    def text(self, name: str) -> str | None:
        if self.secret == "down":
            raise Unavailable("Secrets Manager does not answer")
        return self.secret


class PressHarness:
    """A job, and the handler of presses of its buttons."""

    def __init__(self) -> None:
        self.harness = ChangedHarness()
        self.harness.start({"a": [], "b": ["a"], "c": []})
        self.chat, self.replies, self.secrets = MemoryChat(), Replies(), HeldSecret()
        alerts = AlertPublisher(
            store=MemoryAlertStore(),
            chats=MemoryConnector(self.chat),
            channel="#ops",
            clock=self.harness.clock,
        )
        self.interactions = SlackInteractions(
            secrets=self.secrets,
            secret_name="switchyard/test/slack",
            deduplication=MemoryDeduplication(),
            presses=ButtonPresses(
                redrives=self.harness.redrives,
                cancels=self.harness.cancels,
                decider=a_decider(self.harness.memory, self.harness.emitter, self.harness.clock),
                operators={USER},
                tenants=self.harness.memory.tenants,
                alerts=alerts,
            ),
            replies=self.replies,
            reply_origin="https://hooks.slack.com/",
            clock=self.harness.clock,
        )

    def fail(self) -> None:
        self.harness.settle("a", FAILED)
        self.harness.settle("c")
        self.harness.deliver()
        assert self.harness.job_state() is JobState.FAILED

    def request(self, action: str = "redrive", **more: Any) -> SlackRequest:
        body = form_of(a_payload(self.harness.job, action, **more))
        return signed(body, at_ms=self.harness.clock.now_ms())

    def press(self, action: str = "redrive", **more: Any) -> Answer:
        return self.interactions.answer(self.request(action, **more))

    def requested_by(self, event_type: str) -> list[str | None]:
        events = self.harness.memory.bus.events
        return [
            e.detail()["properties"].get("requestedBy")
            for e in events
            if e.event_type == event_type
        ]
