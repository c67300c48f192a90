"""A reference to an output is compared with the schema of the task that it names."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Switchyard

CHANGES = {"type": "array", "items": {"type": "object", "properties": {"file": {}}}}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"changes": CHANGES}}
CLOSED = SCHEMA | {"additionalProperties": False}


def a_file(folder: Path, reference: str, schema: Any, **fields: Any) -> Path:
    known = {"tag": "a", "description": "Read.", "outputSchema": schema, **fields}
    tasks = [
        {"taskId": "changes", "name": "read"},
        {"taskId": "b", "name": "talk", "dependsOn": ["changes"], "input": {"x": reference}},
    ]
    definitions = {"read": known, "talk": {"tag": "a", "description": "Talk."}}
    file = folder / "job.json"
    file.write_text(json.dumps({"name": "a", "tasks": tasks, "definitions": definitions}))
    return file


def test_a_member_that_the_schema_does_not_name_is_a_warning(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "${tasks.changes.output.chnges[0]}", SCHEMA)

    result = switchyard("submit", file, "--dry-run")

    assert result.stderr.splitlines() == [
        "Warning: tasks[1].input.x: ${tasks.changes.output.chnges[0]}: the output schema of "
        "'changes' names no 'chnges'; did you mean 'changes'?",
        f"{file} is valid; nothing was sent.",
    ]
    assert result.exit_code == 0


def test_a_member_that_the_schema_forbids_is_refused(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "${tasks.changes.output.chnges[0]}", CLOSED)

    result = switchyard("submit", file, "--dry-run")

    said = "the output schema of 'changes' names no 'chnges'; did you mean 'changes'?"
    assert said in result.stderr
    assert "tasks[1].input.x: " in result.stderr
    assert "Warning" not in result.stderr
    assert result.exit_code == 2


def test_members_of_items_are_compared_too(switchyard: Switchyard, tmp_path: Path) -> None:
    file = a_file(tmp_path, "${tasks.changes.output.changes[0].fiel}", SCHEMA)

    assert "did you mean 'file'?" in switchyard("submit", file, "--dry-run").stderr


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("${tasks.changes.output}", CLOSED),
        ("${tasks.changes.output.changes[0].file}", CLOSED),
        ("${tasks.changes.output.changes[0].file.more}", CLOSED),
        ("${tasks.changes.output.other}", None),
        ("${tasks.changes.output.other}", {"type": "object"}),
        ("${tasks.changes.output.other}", SCHEMA | {"additionalProperties": {"type": "string"}}),
        ("${tasks.changes.output.other}", CLOSED | {"patternProperties": {"^o": {}}}),
        ("${tasks.changes.output.other}", SCHEMA | {"anyOf": [{"properties": {"other": {}}}]}),
    ],
)
def test_what_the_schema_allows_is_not_mentioned(
    reference: str, schema: Any, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = a_file(tmp_path, reference, schema)

    result = switchyard("submit", file, "--dry-run")

    assert result.stderr == f"{file} is valid; nothing was sent.\n"
