"""What is wrong with a job file is told with its line, before anything is sent."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeApi

EXAMPLES = sorted(
    file
    for file in (Path(__file__).parents[4] / "examples").glob("*.yaml")
    if file.name not in {"triggers.yaml", "more-paragraphs.yaml"}  # those are no jobs
)

CYCLE = """\
name: round
tasks:
  - taskId: a
    name: scrape
    dependsOn: [b]
  - taskId: b
    name: scrape
    dependsOn: [a]
"""
WRONG_TYPES = """\
name: 7
tasks:
  - taskId: a
    name: scrape
    dependsOn: b
  - taskId: "b c"
    colour: red
"""
UNKNOWN_PARENT = """\
tasks:
  - {taskId: a, name: scrape}
  - taskId: b
    name: scrape
    dependsOn:
      - a
      - ghost
"""
GIVEN_TWICE = """\
name: one
tasks:
  - taskId: a
    name: scrape
    name: other
"""
BAD_SCHEMA = """\
definitions:
  scrape:
    tag: reader
    description: Read.
    outputSchema:
      type: objekt
tasks: [{taskId: a, name: scrape}]
"""
LEFT_OPEN = """\
tasks:
  - taskId: a
    name: scrape
    input: {url: x
  - taskId: b
"""
TELLS_NOBODY = """\
name: x
notify:
  webhook: https://me:secret@hooks.example
tasks: [{taskId: a, name: scrape}]
"""
TELLS_TWO = """\
name: x
notify: {channel: "#a", webhook: "https://hooks.example"}
tasks: [{taskId: a, name: scrape}]
"""
NOT_CLOSED = "a comma is missing, or the { from line 4 is not closed, at column 11"

BROKEN = {
    "a cycle": (CYCLE, "5: tasks[0].dependsOn: the dependencies form a cycle: a → b → a"),
    "a number as name": (WRONG_TYPES, "1: name: should be a text"),
    "a list as name": ("name: [greet]\ntasks: []\n", "1: name: should be a text\n"),
    "yes as name": ("name: true\ntasks: []\n", "1: name: should be a text: put true and false in"),
    "a misspelt kind": (
        "tasks: [{taskId: a, kind: aproval}]\n",
        "1: tasks[0].kind: input should be 'approval', 'wait', 'signal' or 'job'; "
        "did you mean 'approval'?\n",
    ),
    "text instead of a list": (WRONG_TYPES, "5: tasks[0].dependsOn: "),
    "a bad id": (WRONG_TYPES, "6: tasks[1].taskId: must be 1 to 128 of a-z A-Z 0-9 - _"),
    "a missing field": (WRONG_TYPES, "6: tasks[1].name: is required"),
    "a misspelt field": (WRONG_TYPES, "7: tasks[1].colour: is not a field that is known here"),
    "an unknown parent": (UNKNOWN_PARENT, "5: tasks[1].dependsOn: 'b' depends on 'ghost', which"),
    "a field given twice": (GIVEN_TWICE, "5: tasks[0].name: given twice, first on line 4"),
    "a bad schema": (BAD_SCHEMA, "5: definitions.scrape.outputSchema: not a JSON Schema: $.type"),
    "a webhook with credentials": (TELLS_NOBODY, "3: notify.webhook: must not contain credentials"),
    "two to be told": (TELLS_TWO, "2: notify: must name either a channel or a webhook"),
    "no tasks": ("name: x\n", "1: tasks: is required"),
    "an empty list": ("name: x\ntasks: []\n", "2: tasks: a job has 1 to "),
    "malformed YAML": (LEFT_OPEN, f"5: not YAML: {NOT_CLOSED}"),
    "a tab": ("tasks:\n\t- a\n", "2: not YAML: a tab; use spaces"),
    "two documents": ("a: 1\n---\nb: 2\n", "2: not YAML: but found another document"),
    "a foreign tag": ("name: !!python/name:os.system x\n", "1: not YAML: could not determine"),
    "a control character": ("name: \x07\n", "1: not YAML: special characters are not allowed"),
    "an empty file": ("# nothing\n", "1: the file is empty"),
    "a list": ("- a\n", "1: expected fields, found a list"),
    "plain text": ("hello\n", "1: expected fields, found only 'hello'"),
    "a number as key": ("tasks: []\n1: x\n", "2: 1: a field's name must be text"),
    "an endless alias": ("tasks: &a [*a]\n", "1: aliases make the document endless"),
    "deep nesting": ("[" * 5000, "1: the document is nested too deeply"),
    "a huge number": (f"tasks: {'9' * 5000}\n", "1: Exceeds the limit"),
    "half a character": ('name: x\ntasks: "\\ud800"\n', "1: JSON cannot say this"),
}


@pytest.mark.parametrize(("text", "expected"), BROKEN.values(), ids=BROKEN)
def test_every_problem_is_told_with_its_line(
    text: str, expected: str, switchyard: Switchyard, tmp_path: Path, api: FakeApi
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(text)

    result = switchyard("submit", file)

    assert f"{file}:{expected}" in result.stderr
    assert result.stdout == ""
    assert result.exit_code == 2
    assert api.requests == []


def test_a_dry_run_refuses_an_input_that_is_too_large_to_be_sent(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "job.json"
    definition = {"tag": "reader", "description": "Read."}
    task = {"taskId": "a", "name": "scrape", "input": {"page": "x" * 5_000_000}}
    file.write_text(json.dumps({"definitions": {"scrape": definition}, "tasks": [task]}))

    result = switchyard("submit", "--dry-run", file)

    assert "bytes sent; at most 5,000,000 are accepted" in result.stderr
    assert result.exit_code == 2


def test_too_many_tasks_are_refused_by_their_number_alone(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"tasks": [{"taskId": "a"}] * 10_001}))

    result = switchyard("submit", "--dry-run", file)

    expected = f"{file}:1: tasks: a job has 1 to 10,000 tasks, this one 10,001"
    assert result.stderr.splitlines() == [expected]
    assert result.exit_code == 2


def test_problems_come_in_the_order_of_their_lines(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(WRONG_TYPES)

    lines = switchyard("submit", file).stderr.splitlines()

    numbers = [int(line.removeprefix(f"{file}:").split(":")[0]) for line in lines]
    assert numbers == sorted(numbers) == [1, 5, 6, 6, 7]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n\t"tasks": [\n\t\t{"taskId": 1, "name": "x"}\n\t]\n}', "3: tasks[0].taskId: "),
        ('{"tasks": [\n}', "2: not JSON: Expecting value"),
        ('{"name": "a",\n"name": "b", "tasks": []}', "2: name: given twice, first on line 1"),
        ('{"tasks": NaN}', "1: not JSON: NaN is not a number"),
    ],
)
def test_json_is_told_off_in_the_same_way(
    text: str, expected: str, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "job.json"
    file.write_text(text)

    result = switchyard("submit", "--dry-run", file)

    assert f"{file}:{expected}" in result.stderr
    assert result.exit_code == 2


def test_words_and_times_stay_what_they_are(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        "name: no\ntags: {on: 12:30, day: 2026-11-16}\ntasks: [{taskId: a, name: b}]\n"
        "definitions: {b: {tag: t, description: d}}"
    )

    result = switchyard("submit", "--dry-run", "--json", file)

    assert result.exit_code == 0, result.stderr
    assert '"name": "no"' in result.stdout


def test_a_missing_file_is_a_sentence(switchyard: Switchyard, tmp_path: Path) -> None:
    result = switchyard("run", tmp_path / "nowhere.yaml")

    assert result.stderr == f"There is no file {tmp_path / 'nowhere.yaml'}.\n"
    assert result.exit_code == 2


def test_a_folder_is_not_a_job(switchyard: Switchyard, tmp_path: Path) -> None:
    result = switchyard("submit", tmp_path)

    assert result.stderr == f"{tmp_path} cannot be read: Is a directory.\n"
    assert result.exit_code == 2


def test_a_picture_is_not_a_job(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_bytes(b"\x89PNG\xff")

    result = switchyard("submit", file)

    assert result.stderr == f"{file} is not a text file in UTF-8.\n"
    assert result.exit_code == 2


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.name)
def test_the_examples_are_valid_and_complete(example: Path, switchyard: Switchyard) -> None:
    result = switchyard("submit", "--dry-run", example)

    assert result.exit_code == 0, result.stderr
    assert "Expects to be registered" not in result.stdout
