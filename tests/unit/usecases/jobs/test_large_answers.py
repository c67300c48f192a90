"""A task whose data an answer has no room for."""

import json
from typing import Any

import pytest

from switchyard.contracts.jobs import TaskView
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Payload
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.read_jobs import read_task
from tests.builders import JOB, TENANT, a_task
from tests.fakes.task_files import files_of

LAMBDA_ANSWER_BYTES = 6 * 1024 * 1024
INPUT_KEY = "task/inputs/acme/a/digest.json"
INPUT = f"s3://bucket/{INPUT_KEY}"
OUTPUT = "s3://bucket/task/logs/a/1/artifacts/task-result.json"


def view_of(*, given: Any = None, made: Any = None, after: tuple[str, ...] = ()) -> TaskView:
    harness = MemoryHarness(ManualClock())
    outcome = Outcome(state=TaskState.COMPLETED, artifacts="task/logs/a/1/")
    task = a_task("a", state=TaskState.COMPLETED, outcome=outcome)
    harness.state.tasks[task.ref] = task
    harness.state.payloads[task.ref] = Payload(
        input=given, output=made, input_key=INPUT_KEY, depends_on=after
    )
    return read_task(
        TENANT,
        JOB.job_id,
        "a",
        graph=harness.graph,
        payloads=harness.payloads,
        files=files_of(harness),
    )


def answered(view: TaskView) -> int:
    """Bytes, as Powertools and Lambda write them: JSON as a text in JSON."""
    body = json.dumps(view.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    return len(json.dumps({"statusCode": 200, "body": body}))


def test_what_fits_is_answered_as_it_is() -> None:
    view = view_of(given="i" * 2_000_000, made="o" * 3_000_000)
    assert (len(view.input), len(view.output)) == (2_000_000, 3_000_000)
    assert (view.input_location, view.output_location) == (None, None)
    assert answered(view) <= LAMBDA_ANSWER_BYTES


def test_the_input_gives_way_to_the_output() -> None:
    view = view_of(given="i" * 3_000_000, made="o" * 3_000_000)
    assert (view.input, view.input_location) == (None, INPUT)
    assert (len(view.output), view.output_location) == (3_000_000, None)


def test_an_output_too_large_to_answer_is_replaced_by_its_place() -> None:
    view = view_of(given="i" * 3_000_000, made="o" * 6_000_000)
    assert (view.output, view.output_location) == (None, OUTPUT)
    assert (len(view.input), view.input_location) == (3_000_000, None)


@pytest.mark.slow
@pytest.mark.parametrize("character", ['"', "é", "\n", "\\", "😀", "x"])
@pytest.mark.parametrize("count", [700_000, 1_200_000, 5_400_000])
def test_no_answer_is_larger_than_a_function_may_give(character: str, count: int) -> None:
    view = view_of(given=character * 200_000, made=character * count)
    assert answered(view) <= LAMBDA_ANSWER_BYTES
    assert (view.output is None) is (view.output_location is not None)


def test_the_output_gives_way_to_the_names_of_ten_thousand_parents() -> None:
    view = view_of(made="o" * 5_400_000, after=tuple(f"{n:0128}" for n in range(9_999)))
    assert answered(view) <= LAMBDA_ANSWER_BYTES
    assert (view.output, view.output_location, len(view.depends_on)) == (None, OUTPUT, 9_999)
