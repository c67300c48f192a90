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
from tests.worker.harness import WorkerHarness

BARE = bare_task(TENANT, "order-1")
ECHO = {"type": "object", "properties": {"text": {"const": "done"}}, "required": ["text"]}


@pytest.fixture
def harness(harness: WorkerHarness) -> WorkerHarness:
    harness.memory.definitions.put(TENANT, "scrape", a_definition(output_schema=ECHO))
    return harness


def send(harness: WorkerHarness, *, attribute: str | None = "order-1", **body: Any) -> None:
    attributes = (
        {"requestId": MessageAttribute(data_type="String", string_value=attribute)}
        if attribute
        else {}
    )
    harness.memory.queue.send_body(json.dumps({"name": "scrape"} | body), attributes=attributes)


def the_task(harness: WorkerHarness) -> Task:
    return harness.memory.state.tasks[BARE]


def parked(harness: WorkerHarness) -> list[str]:
    blobs = harness.memory.blobs.blobs
    return [json.loads(blobs[key])["reason"] for key in blobs if key.startswith("parked/")]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"attribute": None, "requestId": "order-1"},
        pytest.param({"requestId": "order-1"}, marks=pytest.mark.long),
    ],
    ids=["attribute", "body", "both"],
)
def test_it_is_adopted_and_done(harness: WorkerHarness, message: dict[str, Any]) -> None:
    send(harness, input={"a": 1}, taskId="anything", tenantId="somebody-else", **message)

    harness.work(until=harness.quiet)

    task = the_task(harness)
    assert (task.state, task.attempt, task.definition_version) == (TaskState.COMPLETED, 1, 1)
    assert harness.memory.state.payloads[BARE].input == {"a": 1}
    assert harness.memory.state.payloads[BARE].output == {"text": "done"}
    assert harness.emitted == ["Task Processing Started", "Task Completed"]
    assert "jobId" not in harness.memory.bus.events[-1].detail()["properties"]


def test_outputs_that_it_brings_are_its_context(harness: WorkerHarness) -> None:
    send(harness, dependencyOutputs={"scrape-store": {"pages": 42}})

    harness.work(until=harness.quiet)

    assert harness.memory.state.payloads[BARE].context == {"scrape-store": {"pages": 42}}
    (assignment,) = harness.folder.rglob("task.json")
    assert json.loads(assignment.read_text())["context"] == {"scrape-store": {"pages": 42}}


def test_a_second_message_of_the_same_id_runs_nothing(harness: WorkerHarness) -> None:
    for given in ("first", "second"):
        send(harness, input=given)
        harness.work(until=harness.quiet)

    assert the_task(harness).attempt == 1
    assert harness.memory.state.payloads[BARE].input == "first"
    assert harness.emitted.count("Task Completed") == 2
    assert parked(harness) == []


def test_the_definition_is_the_one_of_the_adoption(harness: WorkerHarness) -> None:
    harness.memory.definitions.put(TENANT, "scrape", a_definition(tag="another"))
    send(harness)

    harness.work(until=harness.quiet)

    assert the_task(harness).definition_version == 2


def test_attribute_and_body_must_not_name_two(harness: WorkerHarness) -> None:
    send(harness, requestId="order-2")

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    assert parked(harness) == ["requestId: the attribute and the body name two"]


def test_it_may_wake_a_task_of_a_job_that_is_there(harness: WorkerHarness) -> None:
    ref = harness.add_task("a")
    send(harness, attribute=ref.request_id, jobId=ref.job_id, taskId="a", input="not this one")

    harness.work(until=harness.quiet)

    assert harness.task("a").attempt == 1
    assert parked(harness) == []


def test_a_stage_without_a_tenant_takes_none_in(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = harness.ports

    def without_a_tenant() -> WorkerPorts:
        return replace(ports(), tenant_id=None)

    monkeypatch.setattr(harness, "ports", without_a_tenant)
    send(harness)

    harness.work(until=lambda: harness.memory.queue.waiting == 0)

    (reason,) = parked(harness)
    assert "not taken in here" in reason
    assert harness.memory.state.tasks == {}


def test_an_outage_while_adopting_costs_nothing(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    latest = harness.memory.definitions.latest
    refused: list[object] = []

    def refuse_first(*arguments: Any) -> Any:
        if not refused:
            refused.append(arguments)
            raise Unavailable("the table does not answer")
        return latest(*arguments)

    monkeypatch.setattr(harness.memory.definitions, "latest", refuse_first)
    send(harness)

    harness.work(until=lambda: BARE in harness.memory.state.tasks and harness.quiet())

    assert refused
    assert the_task(harness).attempt == 1
    assert parked(harness) == []


@pytest.mark.parametrize("tenant", ["", "Acme", "acme\n", "a" * 64, "../acme"])
def test_a_name_that_no_tenant_can_have_is_refused_at_the_start(
    harness: WorkerHarness, tenant: str
) -> None:
    with pytest.raises(ValidationError, match="a tenant is"):
        WorkerSettings(**harness.settings.model_dump() | {"tenant_id": tenant})
