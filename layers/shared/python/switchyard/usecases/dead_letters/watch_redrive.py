"""Watches what happens to one parked message that was sent again, before the others follow."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from switchyard.contracts.messages import Delivered, Malformed, parse_message
from switchyard.contracts.parked_messages import ParkedMessage, event_in
from switchyard.domain.errors import NewerVersion
from switchyard.domain.events.event_queries import EventQuery, history
from switchyard.domain.ids import JOB_ID, JobRef, task_named
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, EventReader, TaskGraph
from switchyard.usecases.dead_letters.parked_messages import ParkedMessages

LOOK_EVERY_SECONDS: Final = 1.0
LOG_QUEUE: Final = "event-queue"  # and the stage, before or after it


class Fate(StrEnum):
    HANDLED = "handled"
    IN_VAIN = "in vain"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WatchedFate:
    fate: Fate
    reason: str


@dataclass(frozen=True, kw_only=True)
class RedriveWatch:
    parked: ParkedMessages
    graph: TaskGraph
    log: EventReader
    adopting_tenant: str | None
    """The tenant that messages of other producers belong to."""
    clock: Clock

    def fate_of(
        self, sent: ParkedMessage, *, since_ms: int, patience_seconds: float
    ) -> WatchedFate:
        """Look into the table, the log and the bucket for what became of `sent`.

        It was sent again at `since_ms`.
        """
        for _ in self._looks(patience_seconds):
            verdict = self._returned(sent, since_ms) or self._traced(sent)
            if verdict:
                return verdict
        return WatchedFate(
            Fate.UNKNOWN, f"neither handled nor parked again in {patience_seconds:g} s"
        )

    def _looks(self, seconds: float) -> Iterator[None]:
        deadline = self.clock.monotonic() + seconds
        yield
        while self.clock.monotonic() < deadline:
            self.clock.sleep(LOOK_EVERY_SECONDS)
            yield

    def _returned(self, sent: ParkedMessage, since_ms: int) -> WatchedFate | None:
        again = self.parked.parked_again(sent, since_ms=since_ms)
        return WatchedFate(Fate.IN_VAIN, f"it was parked again: {again.reason}") if again else None

    def _traced(self, sent: ParkedMessage) -> WatchedFate | None:
        event = event_in(sent.body)
        if event is None:
            return _end_of(self._task_of(sent))
        if event.tenant_id is None or event.entity_id is None:
            return None
        if LOG_QUEUE in sent.send_to:
            query = _history(event.tenant_id, event.entity_id).only(event.event_type)
            return (
                WatchedFate(Fate.HANDLED, "its event is in the log")
                if self.log.read(query)
                else None
            )
        if "__" in event.entity_id:
            return _followed(self.graph.find(task_named(event.tenant_id, event.entity_id)))
        return None

    def _task_of(self, sent: ParkedMessage) -> Task | None:
        message = Delivered(
            body=sent.body, message_id=sent.id, sent_at_ms=0, attributes=sent.own_attributes
        )
        try:
            return self.graph.find(parse_message(message, tenant=self.adopting_tenant).ref)
        except (Malformed, NewerVersion):
            return None


def _end_of(task: Task | None) -> WatchedFate | None:
    """Judge a settled task; while it runs there is no verdict."""
    if task is None or not task.state.settled:
        return None
    if task.state.failure:
        error = task.outcome.error if task.outcome else None
        return WatchedFate(Fate.IN_VAIN, f"its task failed: {error or task.state.value.lower()}")
    return WatchedFate(Fate.HANDLED, f"its task is {task.state.value.lower()}")


def _followed(task: Task | None) -> WatchedFate | None:
    """A settled task is due until the dispatcher has followed all its edges."""
    if task is None or task.due_at_ms is not None:
        return None
    return WatchedFate(Fate.HANDLED, "the dispatcher has followed its task")


def _history(tenant: str, entity_id: str) -> EventQuery:
    job = JOB_ID.fullmatch(entity_id)
    return history(JobRef(tenant, entity_id) if job else task_named(tenant, entity_id))
