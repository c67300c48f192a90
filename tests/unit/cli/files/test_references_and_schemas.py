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


def a_fan_out(folder: Path, for_each: str, schema: Any) -> Path:
    file = a_file(folder, "", schema)
    job = json.loads(file.read_text())
    job["tasks"][1] |= {"forEach": for_each, "input": {"x": "${item}"}}
    file.write_text(json.dumps(job))
    return file


@pytest.mark.parametrize(
    ("for_each", "said"),
    [
        (
            "${tasks.changes.output}",
            "the output schema of 'changes' makes it an object, and forEach needs a list; its "
            "member 'changes' is one",
        ),
        ("${tasks.changes.output.title}", "makes it a text, and forEach needs a list"),
        ("${tasks.changes.output.chnges}", "names no 'chnges'; did you mean 'changes'?"),
        ("${tasks.changes.output.changes.file}", "makes it a list, which has no 'file'"),
    ],
)
def test_a_list_that_the_schema_says_is_none_is_refused(
    for_each: str, said: str, switchyard: Switchyard, tmp_path: Path
) -> None:
    members = {**CLOSED["properties"], "title": {"type": "string"}}
    file = a_fan_out(tmp_path, for_each, CLOSED | {"properties": members})

    result = switchyard("submit", file, "--dry-run")

    assert f"tasks[1].forEach: {for_each}: " in result.stderr
    assert said in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("for_each", "schema"),
    [
        ("${tasks.changes.output.changes}", CLOSED),
        ("${tasks.changes.output}", {"type": ["array", "null"]}),
        ("${tasks.changes.output}", {"type": "array"}),
        ("${tasks.changes.output}", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}),
        ("${tasks.changes.output.other}", {"type": "object"}),
    ],
)
def test_a_list_that_may_be_one_is_not_mentioned(
    for_each: str, schema: Any, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = a_fan_out(tmp_path, for_each, schema)

    result = switchyard("submit", file, "--dry-run")

    assert result.stderr == f"{file} is valid; nothing was sent.\n"


def test_the_output_of_a_fan_out_is_a_list_of_what_its_definition_returns(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "${tasks.changes.output.changes}", CLOSED)
    job = json.loads(file.read_text())
    job["tasks"][0] |= {"forEach": "${input.all}", "input": {"all": [1, 2]}}
    file.write_text(json.dumps(job))

    result = switchyard("submit", file, "--dry-run")

    assert "makes it a list, which has no 'changes'" in result.stderr


def test_a_condition_is_warned_about(switchyard: Switchyard, tmp_path: Path) -> None:
    file = a_file(tmp_path, "", CLOSED)
    job = json.loads(file.read_text())
    job["tasks"][1] |= {"when": "exists ${tasks.changes.output.chnges}"}
    file.write_text(json.dumps(job))

    result = switchyard("submit", file, "--dry-run")

    assert result.stderr.startswith("Warning: tasks[1].when: ${tasks.changes.output.chnges}: ")
    assert result.exit_code == 0


def test_a_mistyped_member_of_an_input_is_recognised(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "", None)
    job = json.loads(file.read_text())
    wanted = {"type": "object", "properties": {"title": {}}, "additionalProperties": False}
    job["definitions"]["read"] = {
        "tag": "a",
        "description": "Read {{input.title}}.",
        "inputSchema": wanted,
    }
    job["tasks"][0]["input"] = {"titel": "Shop"}
    file.write_text(json.dumps(job))

    result = switchyard("submit", file, "--dry-run")

    assert (
        "tasks[0].input: 'titel' is not allowed by the schema; did you mean 'title'?"
        in result.stderr
    )
