"""The event bus on EventBridge."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from switchyard.adapters.aws import call
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.pauses import SYSTEM_PAUSES, Pauses
from switchyard.contracts.events import DETAIL_TYPE, Event
from switchyard.domain.errors import EventsNotAccepted

ENTRIES_PER_CALL: Final = 10  # PutEvents' limit
BYTES_PER_CALL: Final = 240_000  # PutEvents takes 256 KB; the rest is for what surrounds the detail
ROUNDS: Final = 4

Entry = dict[str, Any]


class EventBridgeBus:
    def __init__(
        self,
        client: Any,
        bus_name: str,
        overflow: EventOverflow,
        *,
        pauses: Pauses = SYSTEM_PAUSES,
    ) -> None:
        self._client = client
        self._bus_name = bus_name
        self._overflow = overflow
        self._pauses = pauses

    def put(self, events: Sequence[Event]) -> None:
        for batch in _batches([self._entry(event) for event in events]):
            self._put_batch(batch)

    def _put_batch(self, entries: list[Entry]) -> None:
        for _ in self._pauses.tries(ROUNDS):
            answer = call(self._client.put_events, Entries=entries)
            if not answer["FailedEntryCount"]:
                return
            results = zip(entries, answer["Entries"], strict=True)
            entries = [entry for entry, result in results if "ErrorCode" in result]
        raise EventsNotAccepted(f"EventBridge refused {len(entries)} events {ROUNDS} times")

    def _entry(self, event: Event) -> Entry:
        return {
            "Source": f"task-workflow.{event.app}",
            "DetailType": DETAIL_TYPE,
            "Detail": self._overflow.detail_text(event.detail()),
            "Time": datetime.fromtimestamp(event.timestamp / 1000, tz=UTC),
            "EventBusName": self._bus_name,
        }


def _batches(entries: Sequence[Entry]) -> list[list[Entry]]:
    batches: list[list[Entry]] = []
    room = 0
    for entry in entries:
        size = len(entry["Detail"].encode())
        if not batches or size > room or len(batches[-1]) == ENTRIES_PER_CALL:
            batches.append([])
            room = BYTES_PER_CALL
        batches[-1].append(entry)
        room -= size
    return batches
