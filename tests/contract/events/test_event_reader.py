"""The contract of `EventReader`."""

import json
from typing import Any

import pytest

from switchyard.adapters.eventbridge import EventOverflow
from switchyard.contracts.events import (
    OVERFLOW,
    Context,
    Event,
    JobCreated,
    MemoryUsage,
    Properties,
    StoredEvent,
    TaskCompleted,
    TaskHeartbeat,
    TaskPending,
    UsageFigures,
    what_it_says,
)
from switchyard.domain.events import event_queries
from switchyard.domain.events.event_queries import EventQuery, Period
from switchyard.domain.ids import JobRef, TaskRef
from tests.builders import JOB_ID, NOW_MS
from tests.contract.conftest import Backend
from tests.fakes.tables import BUCKET

PENDING = TaskPending.event_type
OTHER_JOB_ID = JOB_ID.removesuffix("1") + "2"


def keep(
    backend: Backend,
    properties: Properties,
    *,
    tenant: str = "a",
    app: str = "shop",
    at_ms: int = NOW_MS,
) -> Event:
    """Store an event as a sender, the bus and persistence do."""
    event = emitted(properties, tenant=tenant, app=app, at_ms=at_ms)
    overflow = EventOverflow(backend.blobs, BUCKET)
    backend.log.append(json.loads(overflow.detail_text(event.detail())) | {"receivedAt": at_ms})
    return event


def emitted(
    properties: Properties, *, tenant: str = "a", app: str = "shop", at_ms: int = NOW_MS
) -> Event:
    return Event.of(
        properties,
        tenant=tenant,
        app=app,
        timestamp_ms=at_ms,
        context=Context(environment="test", origin="test"),
    )


def of(task_id: str, *, job_id: str = JOB_ID, run: int = 1) -> dict[str, Any]:
    return {"request_id": f"{job_id}__{task_id}", "job_id": job_id, "run": run}


def pending(task_id: str = "task-1", **identity: Any) -> TaskPending:
    return TaskPending(**of(task_id, **identity), name="scrape")


def completed(output: Any, task_id: str = "task-1") -> TaskCompleted:
    return TaskCompleted(
        **of(task_id), output=output, duration_ms=1, exit_code=0, usage=UsageFigures(cost_usd=0.5)
    )


def heartbeat(number: int) -> TaskHeartbeat:
    return TaskHeartbeat(
        **of("task-1"),
        effective_until=NOW_MS,
        heartbeat_number=number,
        elapsed_ms=1,
        worker_id="w",
        process_id=7,
        memory_usage=MemoryUsage(rss=1),
    )


def created(job_id: str = JOB_ID) -> JobCreated:
    return JobCreated(job_id=job_id, request_id=job_id, run=1, tasks=(), total_tasks=1)


def read(backend: Backend, query: EventQuery, *, full: bool = False) -> list[StoredEvent]:
    return list(backend.reader.read(query, full=full))


def ids(events: list[StoredEvent]) -> list[str]:
    return [event.event_id for event in events]


TASK_1 = TaskRef("a", JOB_ID, "task-1")
JOB = JobRef("a", JOB_ID)
QUESTIONS = {
    "history": event_queries.history(TASK_1),
    "all tasks": event_queries.of_all_tasks(JOB, app="shop"),
    "app": event_queries.of_app("a", "shop"),
    "type": event_queries.of_type("a", PENDING),
    "type and entity": event_queries.of_type_and_entity(PENDING, TASK_1),
    "type and app": event_queries.of_type_and_app("a", PENDING, app="shop"),
    "type, app and entity": event_queries.of_type_app_and_entity(PENDING, TASK_1, app="shop"),
    "whole log": event_queries.whole_log("a"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_finds_its_event_and_none_of_another_tenant(
    backend: Backend, question: str
) -> None:
    mine = keep(backend, pending())
    for other in ("ab", "a-b", "b"):  # the same ids, as no honest tenant could have them
        keep(backend, pending(), tenant=other)
    assert ids(read(backend, QUESTIONS[question])) == [mine.event_id]
    (whole,) = read(backend, QUESTIONS[question], full=True)
    assert (whole.tenant_id, what_it_says(whole)) == ("a", pending())


@pytest.mark.parametrize("question", ["history", "type and entity", "type, app and entity"])
def test_task_1_does_not_answer_for_task_10(backend: Backend, question: str) -> None:
    mine = keep(backend, pending("task-1"))
    for other in ("task-10", "task-1-", "task"):
        keep(backend, pending(other))
    assert ids(read(backend, QUESTIONS[question])) == [mine.event_id]


def test_a_jobs_tasks_are_all_found_and_no_other_jobs(backend: Backend) -> None:
    mine = {keep(backend, pending(name)).event_id for name in ("task-1", "task-10", "_z", "Z-")}
    keep(backend, pending(job_id=OTHER_JOB_ID))
    keep(backend, created())
    assert set(ids(read(backend, QUESTIONS["all tasks"]))) == mine


def test_a_jobs_own_history_is_without_its_tasks(backend: Backend) -> None:
    mine = keep(backend, created())
    keep(backend, created(OTHER_JOB_ID))
    keep(backend, pending())
    assert ids(read(backend, event_queries.history(JOB))) == [mine.event_id]


@pytest.mark.parametrize("question", ["app", "type and app", "type, app and entity", "all tasks"])
def test_another_app_is_another_matter(backend: Backend, question: str) -> None:
    mine = keep(backend, pending())
    keep(backend, pending(run=2), app="shopping")
    assert ids(read(backend, QUESTIONS[question])) == [mine.event_id]


def test_what_is_older_is_left_out(backend: Backend) -> None:
    for age in (2, 1, 0):
        keep(backend, pending(run=10 - age), at_ms=NOW_MS - age)
    since = NOW_MS - 1
    period = Period(since_ms=since)
    for query in (
        event_queries.of_type("a", PENDING, period),
        event_queries.of_app("a", "shop", period),
        event_queries.whole_log("a", period),
    ):
        assert [event.timestamp for event in read(backend, query)] == [since, NOW_MS]


def test_more_than_a_page_is_read_to_the_end_in_order(backend: Backend) -> None:
    text = "x" * 40_000  # DynamoDB's pages end at 1 MB
    sent = [
        emitted(pending(run=number).model_copy(update={"name": text}), at_ms=NOW_MS + number)
        for number in range(30)
    ]
    backend.append_many([event.detail() for event in sent])
    expected = [event.event_id for event in sent]
    assert ids(read(backend, QUESTIONS["history"])) == expected
    whole = read(backend, QUESTIONS["type"], full=True)
    assert ids(whole) == expected
    assert all(event.properties for event in whole)


def test_events_of_one_millisecond_do_not_hide_each_other(backend: Backend) -> None:
    sent = [keep(backend, pending(run=run)).event_id for run in (1, 2, 3)]
    assert ids(read(backend, QUESTIONS["history"])) == sorted(sent)


def test_heartbeats_are_in_their_tasks_history_and_cost_no_other_index(backend: Backend) -> None:
    beats = [keep(backend, heartbeat(n), at_ms=NOW_MS + n).event_id for n in (1, 2)]
    assert ids(read(backend, QUESTIONS["history"])) == beats
    assert ids(read(backend, QUESTIONS["whole log"])) == beats
    assert read(backend, QUESTIONS["all tasks"]) == []
    assert read(backend, event_queries.of_type("a", TaskHeartbeat.event_type)) == []


def test_listings_are_summaries_unless_whole_events_are_asked_for(backend: Backend) -> None:
    sent = keep(backend, pending())
    (summary,) = read(backend, QUESTIONS["type"])
    assert summary.properties is None
    with pytest.raises(ValueError, match="summary"):
        what_it_says(summary)
    assert (summary.event_type, summary.timestamp) == (PENDING, NOW_MS)
    assert summary.entity_id == sent.entity_id


@pytest.mark.parametrize("size", [10, 230_000], ids=["small", "overflowing"])
def test_what_an_agent_wrote_comes_back_as_it_was(backend: Backend, size: int) -> None:
    said = completed({"one": 1.0, "huge": 10**50, "none": None, "deep": [[{}]], "x": "é" * size})
    keep(backend, said)
    for question in ("history", "all tasks", "whole log"):
        (event,) = read(backend, QUESTIONS[question], full=True)
        assert what_it_says(event) == said
        assert OVERFLOW not in (event.properties or {})
    (record,) = backend.stored_events()
    assert (OVERFLOW in record["properties"]) == (size > 10)


def test_what_has_expired_leaves_its_address(backend: Backend) -> None:
    event = keep(backend, pending())
    (record,) = backend.stored_events()
    pointer = {"bucket": BUCKET, "key": f"events/{event.entity_id}/gone-payload.json"}
    properties = {"jobId": JOB_ID, OVERFLOW: pointer}
    backend.log.append(record | {"SK": record["SK"] + "x", "properties": properties})
    whole = read(backend, QUESTIONS["whole log"])
    assert [what_it_says(event) for event in whole] == [pending(), properties]
