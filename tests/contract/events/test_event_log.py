"""The contract of `EventLog`."""

import json
from datetime import timedelta
from typing import Any

from switchyard.contracts.events import ArrivedEvent, Context, Event, TaskCompleted, UsageFigures
from switchyard.domain.events.event_queries import history, whole_log
from switchyard.usecases.events.save_event import save_event
from tests.builders import JOB, NOW_MS, TENANT
from tests.contract.conftest import Backend


def an_event(**facts: Any) -> dict[str, Any]:
    return {"PK": "TENANT#a", "SK": "1", "timestamp": 1, "properties": {}} | facts


def test_an_event_is_stored_once(backend: Backend) -> None:
    assert backend.log.append(an_event(receivedAt=1)) is True
    assert backend.log.append(an_event(receivedAt=2)) is False
    assert [record["receivedAt"] for record in backend.stored_events()] == [1]


def test_any_json_of_a_producer_or_an_agent_is_stored(backend: Backend) -> None:
    deep: Any = 1.0
    for _ in range(60):
        deep = [deep]
    output = {"p": 1e-200, "huge": 1e300, "digits": 10**50, "one": 1.0, "deep": deep, "empty": ""}
    backend.log.append(an_event(properties={"output": output, "input": None, "run": 1}))
    (record,) = backend.stored_events()
    assert record["properties"]["run"] == 1


def test_unknown_fields_are_stored_and_read_again(backend: Backend) -> None:
    """A newer sender may say more than we know."""
    detail = a_completed_event().detail()
    detail |= {"traceId": "é-1", "hints": {"a": [1, "x", None, True]}}
    detail["properties"] |= {"unheardOf": {"deep": [{"b": 2}]}}
    save_event(
        ArrivedEvent.model_validate_json(json.dumps(detail)),
        log=backend.log,
        clock=backend.clock,
        retention=timedelta(days=1),
    )
    for query in (history(JOB.task("a")), whole_log(TENANT)):
        (stored,) = backend.reader.read(query, full=True)
        assert stored.model_extra is not None
        assert {name: stored.model_extra[name] for name in ("traceId", "hints")} == {
            "traceId": "é-1",
            "hints": {"a": [1, "x", None, True]},
        }
        assert stored.properties == detail["properties"]


def a_completed_event() -> Event:
    return Event.of(
        TaskCompleted(
            request_id=JOB.task("a").request_id,
            job_id=JOB.job_id,
            run=1,
            output={"n": 1.0},
            duration_ms=1,
            exit_code=0,
            usage=UsageFigures(cost_usd=0.5),
        ),
        tenant=TENANT,
        app="shop",
        timestamp_ms=NOW_MS,
        context=Context(environment="test", origin="test"),
    )
