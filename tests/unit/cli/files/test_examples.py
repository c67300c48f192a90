"""The examples' schemas: what their own examples say is valid by them."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from switchyard_cli.files.job_file import read_job

EXAMPLES = sorted(
    file
    for file in (Path(__file__).parents[4] / "examples").glob("*.yaml")
    if file.name not in {"triggers.yaml", "more-paragraphs.yaml"}  # those are no jobs
)
FOLDERS = sorted((Path(__file__).parents[4] / "examples").glob("*/job.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_values_shown_as_examples_fit_their_schemas(file: Path) -> None:
    definitions = read_job(file).content.definitions

    for definition in definitions.values():
        schema = definition.output_schema or {}
        Draft202012Validator(schema).validate(exemplary(schema))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_definition_is_used(file: Path) -> None:
    job = read_job(file).content

    assert set(job.definitions) == {task.name for task in job.tasks}


@pytest.mark.parametrize("file", FOLDERS, ids=lambda file: file.parent.name)
def test_whole_answers_shown_as_examples_fit_their_schemas(file: Path) -> None:
    for definition in read_job(file).content.definitions.values():
        schema = definition.output_schema or {}
        assert schema["examples"]
        for example in schema["examples"]:
            Draft202012Validator(schema).validate(example)


def exemplary(schema: dict[str, Any]) -> dict[str, Any]:
    """What the offline agent answers: the example of every field.

    More than one is an unquoted comma.
    """
    answer = {}
    for name, field in schema["properties"].items():
        (answer[name],) = field["examples"]
    return answer
