"""What every keeper of events promises."""

from typing import Any

from tests.contract.conftest import Backend


def an_event(**facts: Any) -> dict[str, Any]:
    return {"PK": "TENANT#a", "SK": "1", "timestamp": 1, "properties": {}} | facts


def test_an_event_is_kept_once(backend: Backend) -> None:
    backend.log.append(an_event(receivedAt=1))
    backend.log.append(an_event(receivedAt=2))
    assert [record["receivedAt"] for record in backend.kept_events()] == [1]


def test_whatever_json_a_producer_or_an_agent_wrote_is_kept(backend: Backend) -> None:
    deep: Any = 1.0
    for _ in range(60):
        deep = [deep]
    output = {"p": 1e-200, "huge": 1e300, "digits": 10**50, "one": 1.0, "deep": deep, "empty": ""}
    backend.log.append(an_event(properties={"output": output, "input": None, "run": 1}))
    (record,) = backend.kept_events()
    assert record["properties"]["run"] == 1
