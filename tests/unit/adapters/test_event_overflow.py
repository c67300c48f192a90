"""Events too large for the bus."""

import json
from typing import Any

from switchyard.adapters.eventbridge import MAX_DETAIL_BYTES, EventBridgeBus, EventOverflow
from switchyard.contracts.events import Context, CreatedTask, Event, JobCreated
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB_ID, NOW_MS


class AcceptingBus:
    def __init__(self) -> None:
        self.details: list[str] = []

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.details += [entry["Detail"] for entry in Entries]
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "e"}] * len(Entries)}


def a_job_of(size: int) -> Event:
    task = CreatedTask(task_id="a", name="scrape", input={"text": "é" * (size // 2)})
    return Event.of(
        JobCreated(job_id=JOB_ID, request_id=JOB_ID, run=1, tasks=(task,), total_tasks=1),
        tenant="acme",
        app="shop",
        timestamp_ms=NOW_MS,
        context=Context(environment="test", origin="test"),
    )


def put(event: Event, blobs: MemoryBlobStore) -> dict[str, Any]:
    bus = AcceptingBus()
    EventBridgeBus(bus, "harness", EventOverflow(blobs, "bucket")).put([event])
    (text,) = bus.details
    assert len(text.encode()) <= MAX_DETAIL_BYTES
    detail: dict[str, Any] = json.loads(text)
    return detail


def test_an_event_that_fits_travels_whole() -> None:
    blobs, event = MemoryBlobStore(), a_job_of(190_000)
    assert put(event, blobs) == event.detail()
    assert blobs.blobs == {}


def test_the_large_fields_of_a_large_event_travel_through_the_bucket() -> None:
    blobs, event = MemoryBlobStore(), a_job_of(2_000_000)
    detail = put(event, blobs)
    key = f"events/{JOB_ID}/{event.event_id}-payload.json"
    assert detail["properties"]["_s3Overflow"] == {"bucket": "bucket", "key": key}
    assert "tasks" not in detail["properties"]
    assert detail["properties"]["totalTasks"] == 1
    assert (detail["PK"], detail["SK"]) == (event.detail()["PK"], event.detail()["SK"])
    back = EventOverflow(blobs, "bucket").put_back(detail["properties"])
    assert back == event.detail()["properties"]


def test_sending_it_again_writes_the_same_blob() -> None:
    blobs = MemoryBlobStore()
    assert put(a_job_of(300_000), blobs) == put(a_job_of(300_000), blobs)
    assert len(blobs.blobs) == 1
