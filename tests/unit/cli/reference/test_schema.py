"""`schema`: what editors check files against."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from switchyard_cli.commands.reference.schema import Kind, schema_of
from switchyard_cli.files.document import read_document
from tests.unit.cli.conftest import Switchyard

EXAMPLES = sorted((Path(__file__).parents[4] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_example_is_valid(file: Path) -> None:
    document = read_document(file).value
    kind = Kind.TRIGGER if "triggers" in document else Kind.JOB

    problems = Draft202012Validator(schema_of(kind)).iter_errors(document)

    assert [problem.message for problem in problems] == []


@pytest.mark.parametrize("kind", Kind)
def test_it_is_a_schema_that_refuses_an_empty_file(kind: Kind, switchyard: Switchyard) -> None:
    result = switchyard("schema", kind)

    printed = json.loads(result.stdout)
    Draft202012Validator.check_schema(printed)
    assert printed["title"] == f"Switchyard {kind} file"
    assert list(Draft202012Validator(printed).iter_errors({}))


def test_a_mistyped_field_is_not_valid() -> None:
    job = {"name": "a", "tasks": [{"taskId": "a", "name": "b", "dependson": []}]}

    assert list(Draft202012Validator(schema_of(Kind.JOB)).iter_errors(job))
