"""The event bus on EventBridge, and the bucket for the large fields of events.

`EventOverflow` is the one place that moves these fields out of an event and back.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from switchyard.adapters.aws import call
from switchyard.adapters.pauses import SYSTEM_PAUSES, Pauses
from switchyard.contracts.events import DETAIL_TYPE, FREE_FORM, OVERFLOW, Event
from switchyard.domain.errors import EventsNotAccepted, MissingBlob
from switchyard.ports import BlobStore

ENTRIES_PER_CALL: Final = 10  # PutEvents' limit
BYTES_PER_CALL: Final = 240_000  # PutEvents takes 256 KB; the rest is for what surrounds the detail
ROUNDS: Final = 4
MAX_DETAIL_BYTES: Final = 200_000  # PutEvents takes 256 KB, DynamoDB's items 400

Entry = dict[str, Any]
Fields = dict[str, Any]


class EventOverflow:
    def __init__(self, blobs: BlobStore, bucket: str) -> None:
        self._blobs = blobs
        self._bucket = bucket

    def detail_text(self, detail: Mapping[str, Any]) -> str:
        """The detail as JSON that fits; what did not is in the bucket by then."""
        text = _json(detail)
        if len(text.encode()) <= MAX_DETAIL_BYTES:
            return text
        return _json({**detail, "properties": self._moved_out(detail)})

    def put_back(self, properties: Mapping[str, Any]) -> Fields:
        """Return all fields, with those moved to the bucket; expired ones keep their address."""
        if OVERFLOW not in properties:
            return dict(properties)
        try:
            moved: Fields = json.loads(self._blobs.get(properties[OVERFLOW]["key"]))
        except MissingBlob:
            return dict(properties)
        return {name: value for name, value in properties.items() if name != OVERFLOW} | moved

    def _moved_out(self, detail: Mapping[str, Any]) -> Fields:
        properties = detail["properties"]
        large = {name: properties[name] for name in FREE_FORM if name in properties}
        key = f"events/{detail['entityId']}/{detail['eventId']}-payload.json"
        self._blobs.put(key, _json(large).encode(), content_type="application/json")
        small = {name: value for name, value in properties.items() if name not in large}
        return small | {OVERFLOW: {"bucket": self._bucket, "key": key}}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
