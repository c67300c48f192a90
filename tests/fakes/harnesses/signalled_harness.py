"""A job with signals that events of the bus end: the test plays the programs that put events."""

import json
from collections.abc import Mapping
from typing import Any

from switchyard.contracts.messages import Attributes, Delivered
from switchyard.usecases.signals.match_event import Matched, SignalMatcher
from tests.builders import TENANT
from tests.fakes.harnesses.held_harness import HeldHarness

QUEUE = "signal-queue-test"
SOURCE, PAID = "shop.orders", "Order Paid"
PATTERN: dict[str, Any] = {"source": [SOURCE], "detail-type": [PAID]}


def a_signal(detail: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    event = PATTERN | ({"detail": detail} if detail else {})
    return {"kind": "signal", "event": event, **more}


def an_event(event_id: str = "e-1", tenant: str | None = TENANT, **detail: Any) -> dict[str, Any]:
    """An event as EventBridge delivers it."""
    named = {"tenantId": tenant} if tenant else {}
    return {
        "version": "0",
        "id": event_id,
        "source": SOURCE,
        "detail-type": PAID,
        "account": "123456789012",
        "time": "2027-01-15T08:00:00Z",
        "region": "eu-west-1",
        "resources": [],
        "detail": named | detail,
    }


class SentAgain:
    """The queue of the function, as it sees it."""

    def __init__(self) -> None:
        self.bodies: list[str] = []

    def send(self, queue: str, body: str, attributes: Attributes) -> None:
        assert (queue, attributes) == (QUEUE, {})
        self.bodies.append(body)


class SignalledHarness(HeldHarness):
    def __init__(self) -> None:
        super().__init__()
        self.sent_again = SentAgain()
        self.matcher = SignalMatcher(
            subscriptions=self.memory.subscriptions,
            decider=self.decider,
            graph=self.memory.graph,
            queue_sender=self.sent_again,
            queue=QUEUE,
        )

    def put(self, event: dict[str, Any], *, earlier_ms: int = 0) -> Matched:
        """Deliver an event to the function, which came so many milliseconds ago."""
        return self.deliver(json.dumps(event), earlier_ms=earlier_ms)

    def deliver(self, body: str, *, earlier_ms: int = 0) -> Matched:
        sent_at_ms = self.clock.now_ms() - earlier_ms
        message = Delivered(body=body, message_id="m-1", sent_at_ms=sent_at_ms, attributes={})
        return self.matcher.match(message)

    def waiting(self, source: str = SOURCE, detail_type: str = PAID) -> list[str]:
        """Return the tasks for which a subscription is stored."""
        page = self.memory.subscriptions.page(TENANT, source, detail_type, at_most=10_000)
        return [one.ref.task_id for one in page]
