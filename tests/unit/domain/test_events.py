"""Keys, ids and envelopes of events."""

from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.contracts.events import ArrivedEvent
from switchyard.domain.event_keys import EntityType, EventIdentity, event_id, event_keys
from switchyard.domain.states import TaskState
from switchyard.domain.task import Outcome
from switchyard.usecases import task_events
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
    yard = MemoryYard(ManualClock())
    task = a_task(
        state=TaskState.COMPLETED,
        fence=4,
        attempt=1,
        settled_at_ms=NOW_MS,
        outcome=Outcome(state=TaskState.COMPLETED, exit_code=0, duration_ms=3),
    )
    for origin in ("worker", "dispatcher"):
        an_emitter(yard.bus, origin=origin).emit(task_events.settled(task, output={"x": 1}))
    first, second = (event.detail() for event in yard.bus.events)
    assert (first["PK"], first["SK"]) == (second["PK"], second["SK"])
    assert first["properties"] == second["properties"]


def test_the_envelope_says_who_what_when_and_where() -> None:
    yard = MemoryYard(ManualClock())
    task = a_task(state=TaskState.READY, fence=1, ready_at_ms=NOW_MS)
    an_emitter(yard.bus).emit(task_events.pending(task))
    detail = yard.bus.events[0].detail()
    assert detail["entityType"] == "TASK"
    assert detail["entityId"] == f"{JOB_ID}__scrape-store"
    assert (detail["tenantId"], detail["timestamp"]) == (TENANT, NOW_MS)
    assert detail["context"] == {"source": "system", "environment": "test", "origin": "test"}
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
