"""A job of which an answer has no room for everything."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.jobs import JobView
from switchyard.domain.jobs.limits import MAX_TASKS
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Outcome
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.read_jobs import MAX_ERROR, read_job
from tests.builders import JOB, NOW_MS, TENANT, a_plan, a_task

LAMBDA_ANSWER_BYTES = 6 * 1024 * 1024


def view_of(*, tasks: int, id_length: int = 40, parents: int = 0, error: str | None = None) -> Any:
    """Each task follows those before it, as many as that."""
    harness = MemoryHarness(ManualClock())
    job = replace(a_plan({"a": []}).job, state=JobState.OPEN, total_tasks=tasks)
    harness.state.jobs[JOB] = job
    names = [f"t{number:0{id_length - 1}d}" for number in range(tasks)]
    for number, name in enumerate(names):
        state = TaskState.FAILED if error else TaskState.COMPLETED
        task = a_task(
            name,
            state=state,
            outcome=Outcome(state=state, error=error),
            attempt=1,
            started_at_ms=NOW_MS,
            settled_at_ms=NOW_MS,
        )
        harness.state.tasks[task.ref] = task
        harness.state.dependents[task.ref] = tuple(names[number + 1 : number + 1 + parents])
    return read_job(TENANT, JOB.job_id, jobs=harness.jobs)


def answered(view: JobView) -> int:
    """Bytes, as Powertools and Lambda write them: JSON as a text in JSON."""
    body = json.dumps(view.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    return len(json.dumps({"statusCode": 200, "body": body}))


@pytest.mark.slow
def test_whom_tasks_follow_is_left_out_of_a_job_that_would_be_too_large() -> None:
    view = view_of(tasks=MAX_TASKS, parents=10)
    assert answered(view) <= LAMBDA_ANSWER_BYTES
    assert (len(view.tasks), view.left_out) == (MAX_TASKS, ("dependsOn",))
    assert {task.depends_on for task in view.tasks} == {()}


def test_what_fits_is_answered_whole() -> None:
    view = view_of(tasks=1_000, parents=10, error="boom")
    assert view.left_out == ()
    assert (len(view.tasks[500].depends_on), view.tasks[500].error) == (10, "boom")


@pytest.mark.slow
@pytest.mark.parametrize("character", ["e", "😀"])
def test_errors_are_left_out_next(character: str) -> None:
    view = view_of(tasks=MAX_TASKS, id_length=128, parents=1, error=character * MAX_ERROR)
    assert answered(view) <= LAMBDA_ANSWER_BYTES
    assert view.left_out == ("dependsOn", "error")
    assert {(task.status, task.error) for task in view.tasks} == {("failed", None)}


def test_of_an_error_the_beginning_is_shown() -> None:
    (task,) = view_of(tasks=1, error="e" * 2_000).tasks
    assert task.error == "e" * (MAX_ERROR - 1) + "…"


def test_what_a_task_has_not_come_to_is_not_mentioned() -> None:
    harness = MemoryHarness(ManualClock())
    harness.intake.write(a_plan({"a": []}))
    (task,) = read_job(TENANT, JOB.job_id, jobs=harness.jobs).tasks
    said = task.model_dump(mode="json", by_alias=True)
    assert "dependsOn" in said
    assert None not in said.values()
    assert type(task).model_validate(said) == task
