"""Definitions with steps, from the message to the bucket; and what a worker reads for a task."""

import json
from typing import Any

import pytest

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Payload
from tests.builders import a_task
from tests.worker.yard import WorkerYard
from worker.parent.attempts.assignments import Assignments

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


def add_task_with_steps(yard: WorkerYard, **given: Any) -> None:
    parent = a_task("scrape", state=TaskState.COMPLETED)
    yard.memory.state.tasks[parent.ref] = parent
    yard.memory.state.payloads[parent.ref] = Payload(output={"pages": 42})
    yard.add_task(
        given={"shop": "Blue & Co", **given},
        depends_on=("scrape",),
        definition={"description": "A report.", "steps": STEPS},
    )


def test_steps_run_in_order_and_the_last_output_is_the_tasks(yard: WorkerYard) -> None:
    add_task_with_steps(yard)

    yard.work(until=yard.quiet)

    assert yard.task().state is TaskState.COMPLETED
    assert yard.memory.payloads.read(yard.task().ref).output == {"n": 7}
    assert json.loads(yard.blob("artifacts/plan.json")) == {"title": "Blue"}
    assert json.loads(yard.blob("artifacts/task-result.json")) == {"n": 7}
    plan, write = json.loads(yard.blob("traces/session_trace.json"))["steps"]
    planned = 'A report.\n\n## Step: plan\n\nPlan <data from="input.shop">"Blue & Co"</data>.'
    assert planned in plan["prompt"]
    assert '<data from="tasks.scrape.output.pages">42</data>' in write["prompt"]
    assert 'Write <data from="steps.plan.output.title">"Blue"</data>' in write["prompt"]
    outcome = yard.task().outcome
    assert outcome is not None
    total = plan["usage"]["inputTokens"] + write["usage"]["inputTokens"]
    assert outcome.usage.input_tokens == total


def test_the_task_is_held_against_the_schema_of_its_last_step(yard: WorkerYard) -> None:
    add_task_with_steps(yard, offline={"output": {"title": "Blue"}})

    yard.work(until=yard.quiet)

    outcome = yard.task().outcome
    assert outcome is not None
    assert outcome.error_category == "parse"
    assert "'n' is a required property" in (outcome.error or "")


def test_a_failure_that_cost_nothing_is_mended_inside_the_attempt(yard: WorkerYard) -> None:
    fail = {"category": "network", "calls": 1, "usage": {"inputTokens": 0, "outputTokens": 0}}
    yard.add_task(given={"offline": {"fail": fail}})

    yard.work(until=yard.quiet)

    assert (yard.task().state, yard.task().attempt) == (TaskState.COMPLETED, 1)
    assert yard.told == ["Task Processing Started", "Task Completed"]


def test_a_pinned_version_is_read_once(yard: WorkerYard, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, int]] = []
    read = yard.memory.definitions.version

    def version(tenant: str, name: str, number: int) -> RegisteredDefinition:
        asked.append((tenant, name, number))
        return read(tenant, name, number)

    monkeypatch.setattr(yard.memory.definitions, "version", version)
    for task_id in ("a", "b"):
        yard.add_task(task_id)
    assignments = Assignments(yard.ports(), yard.settings, credential=None)

    for task_id in ("a", "b", "a", "b"):
        assignments.gather(yard.task(task_id))

    assert asked == [("acme", "do-a", 1), ("acme", "do-b", 1)]


def test_a_task_without_parents_asks_for_no_outputs(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(type(yard.memory.payloads), "outputs")
    yard.add_task()

    assignment = Assignments(yard.ports(), yard.settings, credential=None).gather(yard.task())

    assert assignment.context == {}
    assert assignment.memory_mb == 1024
