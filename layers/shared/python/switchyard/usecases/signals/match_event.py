"""Ends the signals that wait for an event of the bus.

Every step may run again: a signal counts an event once, by the event's id, and a subscription is
removed after its task has ended. What one call does not manage is sent again, to go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from switchyard.contracts.changes import SignalTask
from switchyard.contracts.messages import Delivered
from switchyard.contracts.signals import SignalEvent, parse_signal_event
from switchyard.domain.errors import Conflict, InvalidDecision, Unavailable, UnknownTask
from switchyard.domain.signals.subscriptions import Subscription, is_not_held_yet
from switchyard.domain.text import plain_text
from switchyard.ports import QueueSender, TaskGraph
from switchyard.ports.signals import SignalSubscriptions
from switchyard.usecases.jobs.decide_task import TaskDecider

AT_ONCE: Final = 200
"""Subscriptions that are read together."""
MOST_READ: Final = 2_000
MOST_ENDED: Final = 50
"""Tasks that one call ends: each takes several requests, and a function has half a minute."""
_SHOWN: Final = 80


@dataclass
class Matched:
    """The result of matching an event."""

    tenant: str | None
    event_id: str
    ended: list[Subscription] = field(default_factory=list)
    refused: list[tuple[Subscription, str]] = field(default_factory=list)
    """Tasks whose signal may not have this value; they still wait."""
    removed: int = 0
    """Subscriptions of tasks that had ended otherwise."""
    goes_on: bool = False
    """Whether the rest was sent again."""


@dataclass(frozen=True, kw_only=True)
class SignalMatcher:
    subscriptions: SignalSubscriptions
    decider: TaskDecider
    graph: TaskGraph
    queue_sender: QueueSender
    queue: str
    """The name of the queue that events come from."""

    def match(self, message: Delivered) -> Matched:
        """End what waits for the event. Raise `Unavailable`: then the message has to come back.

        Raise `UnreadableEvent` for what no rule sends.
        """
        event = parse_signal_event(message.body)
        matched = Matched(event.tenant, event.id)
        if event.tenant is None:
            return matched
        came_at_ms = event.came_at_ms or message.sent_at_ms
        early, after = self._go_through(event, event.tenant, came_at_ms, matched)
        if early:  # with the whole message, since nothing was sent for the rest yet
            raise Unavailable(f"{early[0].name} is not held yet")
        if after is not None:
            self._go_on(event, after, came_at_ms)
            matched.goes_on = True
        return matched

    def _go_through(
        self, event: SignalEvent, tenant: str, came_at_ms: int, matched: Matched
    ) -> tuple[list[Subscription], str | None]:
        """Return the subscriptions whose tasks are about to be held, and where to go on."""
        early: list[Subscription] = []
        after, read = event.after, 0
        while page := self._page(event, tenant, after):
            for one in page:
                after = one.name
                if one.since_ms <= came_at_ms and _wants(one, event):
                    early += self._end(one, event, matched)
                if len(matched.ended) >= MOST_ENDED:
                    return early, after
            read += len(page)
            if len(page) < AT_ONCE:
                break
            if read >= MOST_READ:
                return early, after
        return early, None

    def _page(self, event: SignalEvent, tenant: str, after: str | None) -> Sequence[Subscription]:
        return self.subscriptions.page(
            tenant, event.source, event.detail_type, after=after, at_most=AT_ONCE
        )

    def _end(
        self, one: Subscription, event: SignalEvent, matched: Matched
    ) -> tuple[Subscription, ...]:
        """Send the signal; return the subscription if its task is not held yet."""
        request = SignalTask(value=event.detail, run=one.run, request_id=event.id)
        try:
            self.decider.signal(one.ref, request, by=_by(event))
        except InvalidDecision as problem:
            matched.refused.append((one, str(problem)))
            return ()
        except Conflict:
            if self._is_early(one):
                return (one,)
            matched.removed += 1
        except UnknownTask:
            matched.removed += 1
        else:
            matched.ended.append(one)
        self.subscriptions.remove(one)
        return ()

    def _is_early(self, one: Subscription) -> bool:
        return is_not_held_yet(self.graph.find(one.ref), one.run)

    def _go_on(self, event: SignalEvent, after: str, came_at_ms: int) -> None:
        rest = event.model_copy(update={"after": after, "came_at_ms": came_at_ms})
        self.queue_sender.send(self.queue, rest.model_dump_json(by_alias=True), {})


def _wants(one: Subscription, event: SignalEvent) -> bool:
    return one.filter.matches(
        source=event.source, detail_type=event.detail_type, detail=event.detail
    )


def _by(event: SignalEvent) -> str:
    return f"event {event.id} of {plain_text(event.source)[:_SHOWN]}"
