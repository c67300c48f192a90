"""What keepers of definitions, keys, events, blobs and messages promise."""

import json

import pytest

from switchyard.contracts.messages import TaskMessage, parse_task_message
from switchyard.domain.errors import UnknownDefinition
from tests.builders import JOB, TENANT, a_definition
from tests.contract.conftest import Backend


def test_a_definition_keeps_its_version_until_it_says_something_new(backend: Backend) -> None:
    first = backend.definitions.put(TENANT, "scrape", a_definition())
    same = backend.definitions.put(TENANT, "scrape", a_definition())
    changed = backend.definitions.put(TENANT, "scrape", a_definition(max_turns=3))
    assert (first.version, same.version, changed.version) == (1, 1, 2)
    assert backend.definitions.version(TENANT, "scrape", 1) == first
    assert backend.definitions.latest(TENANT, ["scrape", "nobody"]) == {"scrape": changed}


def test_definitions_with_schemas_come_back_as_they_were(backend: Backend) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0.5}}}
    kept = backend.definitions.put(TENANT, "b", a_definition(output_schema=schema))
    backend.definitions.put(TENANT, "a", a_definition())
    assert [d.name for d in backend.definitions.all(TENANT)] == ["a", "b"]
    assert backend.definitions.all(TENANT)[1] == kept
    assert backend.definitions.all("other") == ()


def test_a_version_that_never_was_is_unknown(backend: Backend) -> None:
    backend.definitions.put(TENANT, "scrape", a_definition())
    with pytest.raises(UnknownDefinition):
        backend.definitions.version(TENANT, "scrape", 2)


def test_a_key_is_known_to_its_tenant_alone(backend: Backend) -> None:
    backend.keys.add(TENANT, "abc", now_ms=1)
    assert backend.keys.knows(TENANT, "abc")
    assert not backend.keys.knows("other", "abc")
    assert not backend.keys.knows(TENANT, "abcd")


def test_a_blob_comes_back_byte_for_byte(backend: Backend) -> None:
    backend.blobs.put("task/logs/x/1/artifacts/a.json", b"\x00\xff{}", content_type="text/plain")
    assert backend.blobs.get("task/logs/x/1/artifacts/a.json") == b"\x00\xff{}"


def test_an_event_is_kept_once(backend: Backend) -> None:
    backend.log.append({"PK": "TENANT#a", "SK": "1", "receivedAt": 1})
    backend.log.append({"PK": "TENANT#a", "SK": "1", "receivedAt": 2})


def test_messages_are_received_hidden_and_deleted(backend: Backend) -> None:
    sent = [TaskMessage.to(JOB.task(f"t{n}"), run=1) for n in range(12)]
    backend.queue.send(sent)
    received = []
    while batch := backend.queue.receive(at_most=10, wait_seconds=0, visibility_seconds=60):
        received += batch
    assert sorted(parse_task_message(m.body).task_id for m in received) == sorted(
        m.task_id for m in sent
    )
    assert json.loads(received[0].body)["schema"] == 1
    for message in received:
        backend.queue.extend(message, seconds=30)
        backend.queue.delete(message)
    assert backend.queue.receive(at_most=10, wait_seconds=0, visibility_seconds=60) == []
