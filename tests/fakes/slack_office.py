"""People in Slack, a yard whose job they look after, and the desk between them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from switchyard.adapters.memory.alerts import MemoryAlertBook
from switchyard.adapters.memory.chat import MemoryChat, MemoryDoor
from switchyard.adapters.memory.once import MemoryOnce
from switchyard.contracts.slack_actions import SlackRequest
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import JobState
from switchyard.usecases.alerts.answer_slack import Answered, SlackDesk
from switchyard.usecases.alerts.press_button import Buttons
from switchyard.usecases.alerts.thread_notes import ThreadNotes
from tests.fakes.changed_yard import ChangedYard
from tests.fakes.slack_press import SECRET, USER, a_payload, form_of, signed
from tests.fakes.yard import FAILED


@dataclass
class Replies:
    """What was whispered."""

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


class Office:
    """A yard whose job failed, and the desk that people in Slack reach."""

    def __init__(self) -> None:
        self.yard = ChangedYard()
        self.yard.start({"a": [], "b": ["a"], "c": []})
        self.chat, self.replies, self.secrets = MemoryChat(), Replies(), HeldSecret()
        door = MemoryDoor(self.chat)
        self.desk = SlackDesk(
            secrets=self.secrets,
            secret_name="switchyard/test/slack",
            once=MemoryOnce(),
            buttons=Buttons(redrives=self.yard.redrives, cancels=self.yard.cancels),
            operators={USER},
            tenants=self.yard.memory.tenants,
            notes=ThreadNotes(book=MemoryAlertBook(), door=door),
            replies=self.replies,
            replies_to="https://hooks.slack.com/",
            clock=self.yard.clock,
        )

    def fail(self) -> None:
        self.yard.settle("a", FAILED)
        self.yard.settle("c")
        self.yard.deliver()
        assert self.yard.job_state() is JobState.FAILED

    def request(self, action: str = "redrive", **more: Any) -> SlackRequest:
        body = form_of(a_payload(self.yard.job, action, **more))
        return signed(body, at_ms=self.yard.clock.now_ms())

    def press(self, action: str = "redrive", **more: Any) -> Answered:
        return self.desk.answer(self.request(action, **more))

    def told(self, event_type: str) -> list[str | None]:
        events = self.yard.memory.bus.events
        return [
            e.detail()["properties"].get("requestedBy")
            for e in events
            if e.event_type == event_type
        ]
