"""Keys, ids and envelopes of events."""

from typing import Any

from switchyard.contracts.events import (
    CATALOGUE,
    ArrivedEvent,
    Context,
    Event,
    HealthSummary,
    MemoryUsage,
    Properties,
    StoredEvent,
    TaskHealthCheck,
    TaskHeartbeat,
    what_it_says,
)
from switchyard.domain.events.event_keys import EntityType, EventIdentity, event_id, event_keys
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.events import task_events
from tests.builders import JOB_ID, NOW_MS, TENANT, a_task, an_emitter

IDENTITY = EventIdentity(
    event_id="id-1",
    event_type="Task Pending",
    entity_type=EntityType.TASK,
    entity_id="job-1__a",
    tenant="acme",
    app="shop",
    timestamp_ms=17,
)
WHEN = "TIMESTAMP#17#EVENT#id-1"


def test_every_index_answers_its_question() -> None:
    assert event_keys(IDENTITY) == {
        "PK": "TENANT#acme",
        "SK": WHEN,
        "GSI1PK": "TASK#job-1__a",
        "GSI1SK": f"TASK#{WHEN}",
        "GSI2PK": "APP#shop",
        "GSI2SK": WHEN,
        "GSI3PK": "APP#shop",
        "GSI3SK": f"TASK#job-1__a#{WHEN}",
        "GSI4PK": "EVENT#Task Pending",
        "GSI4SK": f"TENANT#acme#{WHEN}",
        "GSI5PK": "EVENT#Task Pending",
        "GSI5SK": f"TENANT#acme#TASK#job-1__a#{WHEN}",
        "GSI6PK": "EVENT#Task Pending",
        "GSI6SK": f"TENANT#acme#APP#shop#{WHEN}",
        "GSI7PK": "EVENT#Task Pending",
        "GSI7SK": f"TENANT#acme#APP#shop#TASK#job-1__a#{WHEN}",
    }


def test_a_sparse_event_pays_for_one_index() -> None:
    assert set(event_keys(IDENTITY, sparse=True)) == {"PK", "SK", "GSI1PK", "GSI1SK"}


def test_the_same_transition_has_the_same_id_and_any_other_another() -> None:
    def an_id(run: int = 1, fence: int = 2, event_type: str = "Task Failed") -> str:
        return event_id("job-1__a", run=run, fence=fence, event_type=event_type)

    assert an_id() == an_id()
    assert len({an_id(), an_id(run=2), an_id(fence=3), an_id(event_type="Task Pending")}) == 4


def test_telling_a_settled_task_twice_is_the_same_event() -> None:
    harness = MemoryHarness(ManualClock())
    task = a_task(
        state=TaskState.COMPLETED,
        fence=4,
        attempt=1,
        settled_at_ms=NOW_MS,
        outcome=Outcome(state=TaskState.COMPLETED, exit_code=0, duration_ms=3),
    )
    for origin in ("worker", "dispatcher"):
        an_emitter(harness.bus, origin=origin).emit(task_events.settled(task, output={"x": 1}))
    first, second = (event.detail() for event in harness.bus.events)
    assert (first["PK"], first["SK"]) == (second["PK"], second["SK"])
    assert first["properties"] == second["properties"]


def test_the_envelope_says_who_what_when_and_where() -> None:
    harness = MemoryHarness(ManualClock())
    task = a_task(state=TaskState.READY, fence=1, ready_at_ms=NOW_MS)
    an_emitter(harness.bus).emit(task_events.pending(task))
    detail = harness.bus.events[0].detail()
    assert detail["entityType"] == "TASK"
    assert detail["entityId"] == f"{JOB_ID}__scrape-store"
    assert (detail["tenantId"], detail["timestamp"]) == (TENANT, NOW_MS)
    assert detail["context"] == {
        "source": "system",
        "environment": "test",
        "origin": "test",
        "traceId": trace_of(task).trace_id,
    }
    assert detail["properties"] == {
        "requestId": f"{JOB_ID}__scrape-store",
        "jobId": JOB_ID,
        "run": 1,
        "fence": 1,
        "name": "scrape",
    }


def test_a_field_that_nobody_knows_survives_persistence() -> None:
    arrived = ArrivedEvent.model_validate(
        {
            "PK": "TENANT#acme",
            "SK": "s",
            "entityId": "e",
            "entityType": "TASK",
            "tenantId": "acme",
            "eventType": "Task Pending",
            "timestamp": 1,
            "properties": {"new": {"deep": 1}},
            "GSI1PK": "k",
            "brandNew": [1],
        }
    )
    record = arrived.record()
    assert (record["brandNew"], record["properties"]) == ([1], {"new": {"deep": 1}})
    assert (record["PK"], record["GSI1PK"]) == ("TENANT#acme", "k")


def sent(properties: Properties) -> dict[str, Any]:
    context = Context(environment="test", origin="test")
    event = Event.of(properties, tenant=TENANT, app="shop", timestamp_ms=NOW_MS, context=context)
    return event.detail()


def a_heartbeat(number: int) -> TaskHeartbeat:
    return TaskHeartbeat(
        request_id=f"{JOB_ID}__a",
        job_id=JOB_ID,
        run=1,
        fence=2,
        effective_until=NOW_MS,
        heartbeat_number=number,
        elapsed_ms=1,
        worker_id="w",
        process_id=7,
        memory_usage=MemoryUsage(rss=1),
    )


def test_each_heartbeat_is_an_event_of_its_own_and_pays_for_one_index() -> None:
    first, second = sent(a_heartbeat(1)), sent(a_heartbeat(2))
    assert first["eventId"] != second["eventId"]
    assert {name for name in first if name.startswith("GSI")} == {"GSI1PK", "GSI1SK"}


def test_a_health_check_is_about_no_task_and_each_is_its_own() -> None:
    nobody = HealthSummary(total_processing=0, healthy=0, warning=0, critical=0, overtime=0)
    first, second = (
        sent(TaskHealthCheck(checked_at=at, summary=nobody, tasks=())) for at in (1, 2)
    )
    assert first["eventId"] != second["eventId"]
    assert first["GSI1PK"] == "STORE#health-check"


def test_the_catalogue_is_whole() -> None:
    assert set(CATALOGUE) == {
        "Job Created",
        "Job Tasks Added",
        "Job Failure Detected",
        "Job Completed",
        "Job Failed",
        "Job Cancelled",
        "Task Pending",
        "Task Held",
        "Task Expanded",
        "Task Processing Started",
        "Task Heartbeat",
        "Task Processing Failed",
        "Task Released",
        "Task Completed",
        "Task Failed",
        "Task Timeout",
        "Task Skipped",
        "Task Cancelled",
        "Task Redriven",
        "Task Health Check",
    }


def test_a_stored_event_becomes_its_model_again() -> None:
    assert what_it_says(StoredEvent.model_validate(sent(a_heartbeat(1)))) == a_heartbeat(1)


def test_unknown_fields_of_a_newer_sender_survive() -> None:
    detail = sent(a_heartbeat(1))
    newer = detail["properties"] | {"mood": "good"}
    for event in (
        detail | {"schemaVersion": 2, "properties": newer},
        detail | {"eventType": "Task Dreamt", "entityType": "DREAM", "properties": newer},
    ):
        assert what_it_says(StoredEvent.model_validate(event)) == newer


def test_a_field_that_a_newer_sender_added_does_not_hide_what_is_known() -> None:
    detail = sent(a_heartbeat(1))
    newer = detail | {"properties": detail["properties"] | {"mood": "good"}}
    assert what_it_says(StoredEvent.model_validate(newer)) == a_heartbeat(1)


def test_a_task_without_output_is_emitted_and_read_as_such() -> None:
    harness = MemoryHarness(ManualClock())
    task = a_task(
        state=TaskState.COMPLETED, settled_at_ms=NOW_MS, outcome=Outcome(state=TaskState.COMPLETED)
    )
    an_emitter(harness.bus).emit(task_events.settled(task, output=None))
    (event,) = harness.bus.events
    assert what_it_says(StoredEvent.model_validate(event.detail())) == event.properties
