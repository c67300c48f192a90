"""What has far too many parts is refused for that alone, before each part is looked at."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from switchyard.contracts.changes import RedriveJob
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.definitions.steps import MAX_STEPS, MAX_TOOLS
from switchyard.contracts.jobs import AddTasks, SubmitJob
from switchyard.contracts.json_schema import MAX_SCHEMA_BYTES
from switchyard.domain.jobs.limits import MAX_EDGES, MAX_TAGS, MAX_TASKS


def problems_with(model: type[BaseModel], body: dict[str, Any]) -> list[tuple[Any, str]]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(body)
    return [(error["loc"], error["msg"]) for error in refused.value.errors()]


def a_definition(**facts: Any) -> dict[str, Any]:
    return {"description": "d", "tag": "t", **facts}


@pytest.mark.parametrize("model", [SubmitJob, AddTasks])
def test_too_many_tasks_are_one_problem(model: type[BaseModel]) -> None:
    ((place, words),) = problems_with(model, {"tasks": [1] * (MAX_TASKS + 1)})
    assert (place, "a job has 1 to 10,000 tasks, this one 10,001" in words) == (("tasks",), True)


@pytest.mark.parametrize("name", ["dependsOn", "depends_on"])
def test_too_many_dependencies_are_one_problem(name: str) -> None:
    half = {"taskId": "a", "name": "scrape", name: [1] * (MAX_EDGES // 2)}
    ((place, words),) = problems_with(SubmitJob, {"tasks": [half, half | {name: [1] * MAX_EDGES}]})
    assert (place, "at most 100,000 dependencies" in words) == (("tasks",), True)


def test_a_large_input_is_not_counted() -> None:
    given = [1] * (MAX_EDGES // 2 + 1)
    tasks = [{"taskId": name, "name": "scrape", "input": given} for name in "ab"]
    assert len(SubmitJob.model_validate({"tasks": tasks}).tasks) == 2


def test_a_value_that_is_no_list_of_tasks_is_reported_as_before() -> None:
    assert [place for place, _ in problems_with(SubmitJob, {"tasks": 7})] == [("tasks",)]
    assert [place for place, _ in problems_with(SubmitJob, {"tasks": [7, "a"]})] == [
        ("tasks", 0),
        ("tasks", 1),
    ]


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (RedriveJob, {"tasks": [1] * (MAX_TASKS + 1)}),
        (SubmitJob, {"tasks": [], "tags": {str(n): 1 for n in range(MAX_TAGS + 1)}}),
        (TaskDefinition, {"description": "d", "tag": "t", "steps": [1] * (MAX_STEPS + 1)}),
    ],
)
def test_too_many_of_anything_are_one_problem(model: type[BaseModel], body: dict[str, Any]) -> None:
    ((_, words),) = problems_with(model, body)
    assert "at most" in words


@pytest.mark.parametrize(
    "facts",
    [
        {"tools": [1] * (MAX_TOOLS + 1)},
        {"steps": [{"name": "a", "description": "b", "tools": [1] * (MAX_TOOLS + 1)}]},
    ],
)
def test_too_many_tools_are_one_problem(facts: dict[str, Any]) -> None:
    ((place, words),) = problems_with(TaskDefinition, a_definition(**facts))
    assert (place[-1], "at most 1,000" in words) == ("tools", True)


def test_a_schema_that_no_definition_has_room_for_is_not_looked_at() -> None:
    schema = {"properties": {str(n): {"type": "no type"} for n in range(4_000)}}
    ((place, words),) = problems_with(TaskDefinition, a_definition(outputSchema=schema))
    assert (place, "not a JSON Schema" in words) == (("outputSchema",), False)
    assert f"at most {MAX_SCHEMA_BYTES:,}" in words


def test_of_a_schema_bytes_are_counted_as_a_definition_counts_them() -> None:
    schema = {"const": "ü" * ((MAX_SCHEMA_BYTES - len('{"const":""}')) // 2)}
    assert TaskDefinition.model_validate(a_definition(outputSchema=schema)).output_schema == schema
