"""What references in an input stand for when a task is claimed."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from switchyard.adapters.system import SystemClock, system_sleep
from switchyard.domain.ids import bare_task
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Payload
from switchyard_worker.boundary import Assignment
from switchyard_worker.parent.attempts.assignments import (
    Assignments,
    InvalidInput,
    check_input,
    input_document,
)
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.inputs import InputFinder
from tests.builders import JOB, TENANT, a_task
from tests.worker.harness import WorkerHarness

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def made(harness: WorkerHarness) -> WorkerHarness:
    """A harness with a task that has made something, and one that was skipped."""
    for task_id, state in (("scrape", TaskState.COMPLETED), ("skipped", TaskState.SKIPPED)):
        task = a_task(task_id, state=state)
        harness.memory.state.tasks[task.ref] = task
    output = {"n": 7, "products": [{"name": "a cup"}]}
    harness.memory.state.payloads[JOB.task("scrape")] = Payload(output=output)
    return harness


def gathered(harness: WorkerHarness, given: Any, **facts: Any) -> Assignment:
    ref = harness.add_task(given=given, **facts)
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
    task = harness.memory.state.tasks[ref]
    assignment = assignments.gather(task)
    schema = assignments.input_schema(task)
    if schema is not None:
        asyncio.run(_checked(assignment, schema))
    return assignment


async def _checked(assignment: Assignment, schema: Mapping[str, Any]) -> None:
    guard = GuardClient(clock=SystemClock(), sleep=system_sleep, host_environment={})
    try:
        await check_input(input_document(assignment), schema, guard)
    finally:
        await guard.close()


def test_a_task_is_given_what_its_references_stand_for(made: WorkerHarness) -> None:
    """A reference may name a task that is not its parent: only parents are in its context."""
    given = {
        "name": "${tasks.scrape.output.products[0].name}",
        "all": ["${tasks.scrape.output.products}", "n=${tasks.scrape.output.n}", "$${tasks.x}"],
    }
    assignment = gathered(made, given)
    assert assignment.input == {
        "name": "a cup",
        "all": [[{"name": "a cup"}], "n=7", "${tasks.x}"],
    }
    assert assignment.context == {}


def test_a_parent_may_be_in_the_input_and_in_the_context(made: WorkerHarness) -> None:
    assignment = gathered(made, "${tasks.scrape.output.n}", depends_on=("scrape", "skipped"))
    assert assignment.input == 7
    assert assignment.context == {"scrape": {"n": 7, "products": [{"name": "a cup"}]}}


def test_the_input_schema_is_that_of_what_the_references_stand_for(made: WorkerHarness) -> None:
    schema = {"input_schema": NUMBER}
    right, wrong = "${tasks.scrape.output.n}", "${tasks.scrape.output.products}"
    assert gathered(made, {"n": right}, definition=schema).input == {"n": 7}
    with pytest.raises(InvalidInput, match="does not match its schema"):
        gathered(made, {"n": wrong}, definition=schema)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("${tasks.skipped.output}", "'skipped' did not complete"),
        ("${tasks.scrape.output.price}", "output has no member 'price'"),
        ("${tasks.scrape}", "is no reference"),
    ],
)
def test_an_absent_value_fails_the_task_once(made: WorkerHarness, given: str, words: str) -> None:
    made.add_task(given={"a": [given]}, definition={"input_schema": NUMBER})

    made.work(until=made.quiet)

    task = made.task()
    assert task.outcome is not None
    assert (task.state, task.attempt) == (TaskState.FAILED, 1)
    assert task.outcome.error_category == "validation"
    assert (task.outcome.error or "").startswith("the input cannot be filled in: ${tasks.s")
    assert words in (task.outcome.error or "")
    assert made.emitted[-1] == "Task Failed"


def test_the_stored_input_stays_as_it_was_written(made: WorkerHarness) -> None:
    given = {"name": "${tasks.scrape.output.products[0].name}"}
    made.add_task(given=given)

    made.work(until=made.quiet)

    assert made.task().state is TaskState.COMPLETED
    assert made.memory.payloads.read(JOB.task("a")).input == given
    assert "a cup" in made.blob("traces/session_trace.json")


def test_another_producers_input_is_not_looked_at(harness: WorkerHarness) -> None:
    given = ["${tasks.scrape", "$${x}"]
    assert gathered(harness, given, ref=bare_task(TENANT, "theirs")).input == given


def test_a_task_is_given_only_so_much_of_what_others_made(
    made: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard_worker.parent.attempts.assignments.MAX_CONTEXT_BYTES", 20)
    with pytest.raises(InvalidInput, match="more than 20 bytes together"):
        gathered(made, None, depends_on=("scrape",))


def test_references_bring_in_only_so_many_values(
    made: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.domain.json_values.MAX_VALUES", 10)
    with pytest.raises(InvalidInput, match="bring in, contains more than 10 values"):
        gathered(made, ["${tasks.scrape.output}"] * 5)
