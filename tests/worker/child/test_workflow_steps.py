"""Definitions with steps, from the message to the bucket; and what a worker reads for a task."""

import json
from typing import Any

import pytest

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Payload
from switchyard_worker.parent.attempts.assignments import Assignments
from switchyard_worker.parent.attempts.inputs import InputFinder
from tests.builders import a_task
from tests.worker.harness import WorkerHarness

TITLE = {
    "type": "object",
    "properties": {"title": {"const": "Blue"}},
    "required": ["title"],
}
STEPS = [
    {"name": "plan", "description": "Plan {{input.shop}}.", "outputSchema": TITLE},
    {
        "name": "write",
        "description": "Write {{steps.plan.output.title}} after {{tasks.scrape.output.pages}}.",
        "outputSchema": {"type": "object", "properties": {"n": {"const": 7}}, "required": ["n"]},
        "maxTurns": 3,
        "processOutput": "without-nulls",
    },
]


def add_task_with_steps(harness: WorkerHarness, **given: Any) -> None:
    parent = a_task("scrape", state=TaskState.COMPLETED)
    harness.memory.state.tasks[parent.ref] = parent
    harness.memory.state.payloads[parent.ref] = Payload(output={"pages": 42})
    harness.add_task(
        given={"shop": "Blue & Co", **given},
        depends_on=("scrape",),
        definition={"description": "A report.", "steps": STEPS},
    )


def test_steps_run_in_order_and_the_last_output_is_the_tasks(harness: WorkerHarness) -> None:
    add_task_with_steps(harness)

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED
    assert harness.memory.payloads.read(harness.task().ref).output == {"n": 7}
    assert json.loads(harness.blob("artifacts/plan.json")) == {"title": "Blue"}
    assert json.loads(harness.blob("artifacts/task-result.json")) == {"n": 7}
    plan, write = json.loads(harness.blob("traces/session_trace.json"))["steps"]
    planned = 'A report.\n\n## Step: plan\n\nPlan <data from="input.shop">"Blue & Co"</data>.'
    assert planned in plan["prompt"]
    assert '<data from="tasks.scrape.output.pages">42</data>' in write["prompt"]
    assert 'Write <data from="steps.plan.output.title">"Blue"</data>' in write["prompt"]
    outcome = harness.task().outcome
    assert outcome is not None
    total = plan["usage"]["inputTokens"] + write["usage"]["inputTokens"]
    assert outcome.usage.input_tokens == total


def test_the_task_is_held_against_the_schema_of_its_last_step(harness: WorkerHarness) -> None:
    add_task_with_steps(harness, offline={"output": {"title": "Blue"}})

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert outcome.error_category == "parse"
    assert "'n' is a required property" in (outcome.error or "")


def test_a_failure_that_cost_nothing_is_mended_inside_the_attempt(harness: WorkerHarness) -> None:
    fail = {"category": "network", "calls": 1, "usage": {"inputTokens": 0, "outputTokens": 0}}
    harness.add_task(given={"offline": {"fail": fail}})

    harness.work(until=harness.quiet)

    assert (harness.task().state, harness.task().attempt) == (TaskState.COMPLETED, 1)
    assert harness.emitted == ["Task Processing Started", "Task Completed"]


def test_a_pinned_version_is_read_once(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str, int]] = []
    read = harness.memory.definitions.version

    def version(tenant: str, name: str, number: int) -> RegisteredDefinition:
        asked.append((tenant, name, number))
        return read(tenant, name, number)

    monkeypatch.setattr(harness.memory.definitions, "version", version)
    for task_id in ("a", "b"):
        harness.add_task(task_id)
    assignments = Assignments(
        harness.memory.payloads,
        harness.memory.definitions,
        harness.settings,
        credential=None,
        inputs=InputFinder(
            leases=harness.memory.leases,
            payloads=harness.memory.payloads,
            blobs=harness.memory.blobs,
        ),
    )

    for task_id in ("a", "b", "a", "b"):
        assignments.gather(harness.task(task_id))

    assert asked == [("acme", "do-a", 1), ("acme", "do-b", 1)]


def test_a_task_without_parents_asks_for_no_outputs(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(type(harness.memory.payloads), "outputs")
    harness.add_task()

    assignment = Assignments(
        harness.memory.payloads,
        harness.memory.definitions,
        harness.settings,
        credential=None,
        inputs=InputFinder(
            leases=harness.memory.leases,
            payloads=harness.memory.payloads,
            blobs=harness.memory.blobs,
        ),
    ).gather(harness.task())

    assert assignment.context == {}
    assert assignment.memory_mb == 1024
