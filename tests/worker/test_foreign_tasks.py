"""Tasks of other producers: their messages bring everything, and are adopted on the first claim."""

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import MessageAttribute
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import bare_task
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.settings import WorkerSettings
from tests.builders import TENANT, a_definition
from tests.worker.yard import WorkerYard

BARE = bare_task(TENANT, "order-1")
ECHO = {"type": "object", "properties": {"text": {"const": "done"}}, "required": ["text"]}


@pytest.fixture
def yard(yard: WorkerYard) -> WorkerYard:
    yard.memory.definitions.put(TENANT, "scrape", a_definition(output_schema=ECHO))
    return yard


def send(yard: WorkerYard, *, attribute: str | None = "order-1", **body: Any) -> None:
    attributes = (
        {"requestId": MessageAttribute(data_type="String", string_value=attribute)}
        if attribute
        else {}
    )
    yard.memory.queue.send_body(json.dumps({"name": "scrape"} | body), attributes=attributes)


def the_task(yard: WorkerYard) -> Task:
    return yard.memory.state.tasks[BARE]


def quarantined(yard: WorkerYard) -> list[str]:
    blobs = yard.memory.blobs.blobs
    return [json.loads(blobs[key])["reason"] for key in blobs if key.startswith("quarantine/")]


@pytest.mark.parametrize(
    "message",
    [{}, {"attribute": None, "requestId": "order-1"}, {"requestId": "order-1"}],
    ids=["attribute", "body", "both"],
)
def test_it_is_adopted_and_done(yard: WorkerYard, message: dict[str, Any]) -> None:
    send(yard, input={"a": 1}, taskId="anything", tenantId="somebody-else", **message)

    yard.work(until=yard.quiet)

    task = the_task(yard)
    assert (task.state, task.attempt, task.definition_version) == (TaskState.COMPLETED, 1, 1)
    assert yard.memory.state.payloads[BARE].input == {"a": 1}
    assert yard.memory.state.payloads[BARE].output == {"text": "done"}
    assert yard.told == ["Task Processing Started", "Task Completed"]
    assert "jobId" not in yard.memory.bus.events[-1].detail()["properties"]


def test_outputs_that_it_brings_are_its_context(yard: WorkerYard) -> None:
    send(yard, dependencyOutputs={"scrape-store": {"pages": 42}})

    yard.work(until=yard.quiet)

    assert yard.memory.state.payloads[BARE].context == {"scrape-store": {"pages": 42}}
    (assignment,) = yard.folder.rglob("task.json")
    assert json.loads(assignment.read_text())["context"] == {"scrape-store": {"pages": 42}}


def test_a_second_message_of_the_same_id_runs_nothing(yard: WorkerYard) -> None:
    for given in ("first", "second"):
        send(yard, input=given)
        yard.work(until=yard.quiet)

    assert the_task(yard).attempt == 1
    assert yard.memory.state.payloads[BARE].input == "first"
    assert yard.told.count("Task Completed") == 2
    assert quarantined(yard) == []


def test_the_definition_is_the_one_of_the_adoption(yard: WorkerYard) -> None:
    yard.memory.definitions.put(TENANT, "scrape", a_definition(tag="another"))
    send(yard)

    yard.work(until=yard.quiet)

    assert the_task(yard).definition_version == 2


def test_attribute_and_body_must_not_name_two(yard: WorkerYard) -> None:
    send(yard, requestId="order-2")

    yard.work(until=lambda: yard.memory.queue.waiting == 0)

    assert quarantined(yard) == ["requestId: the attribute and the body name two"]


def test_it_may_wake_a_task_of_a_job_that_is_there(yard: WorkerYard) -> None:
    ref = yard.add_task("a")
    send(yard, attribute=ref.request_id, jobId=ref.job_id, taskId="a", input="not this one")

    yard.work(until=yard.quiet)

    assert yard.task("a").attempt == 1
    assert quarantined(yard) == []


def test_a_stage_without_a_tenant_takes_none_in(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = yard.ports

    def without_a_tenant() -> WorkerPorts:
        return replace(ports(), tenant_id=None)

    monkeypatch.setattr(yard, "ports", without_a_tenant)
    send(yard)

    yard.work(until=lambda: yard.memory.queue.waiting == 0)

    (reason,) = quarantined(yard)
    assert "not taken in here" in reason
    assert yard.memory.state.tasks == {}


def test_an_outage_while_adopting_costs_nothing(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    latest = yard.memory.definitions.latest
    refused: list[object] = []

    def refuse_first(*arguments: Any) -> Any:
        if not refused:
            refused.append(arguments)
            raise Unavailable("the table does not answer")
        return latest(*arguments)

    monkeypatch.setattr(yard.memory.definitions, "latest", refuse_first)
    send(yard)

    yard.work(until=lambda: BARE in yard.memory.state.tasks and yard.quiet())

    assert refused
    assert the_task(yard).attempt == 1
    assert quarantined(yard) == []


@pytest.mark.parametrize("tenant", ["", "Acme", "acme\n", "a" * 64, "../acme"])
def test_a_name_that_no_tenant_can_have_is_refused_at_the_start(
    yard: WorkerYard, tenant: str
) -> None:
    with pytest.raises(ValidationError, match="a tenant is"):
        WorkerSettings(**yard.settings.model_dump() | {"tenant_id": tenant})
