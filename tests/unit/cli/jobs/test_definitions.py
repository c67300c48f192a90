"""`definitions show`, `diff`, `delete`: one definition at a time."""

import json
from pathlib import Path

import pytest
import yaml

from switchyard.contracts.definitions import DefinitionDeleted, RegisteredDefinition
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeApi, answer, problem

FIRST = RegisteredDefinition(name="scrape", version=1, tag="reader", description="Read.")
SECOND = FIRST.model_copy(update={"version": 2, "max_turns": 3, "tag": "leser"})
FROM_1_TO_2 = """\
--- scrape version 1
+++ scrape version 2
@@ -1,2 +1,3 @@
 description: Read.
-tag: reader
+tag: leser
+maxTurns: 3
"""


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on("GET /task-definitions/scrape", answer(SECOND))
    for found in (FIRST, SECOND):
        api.on(f"GET /task-definitions/scrape/versions/{found.version}", answer(found))
    return api


def test_the_latest_version_is_shown_as_put_takes_it(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    result = switchyard("definitions", "show", "scrape")

    assert result.stdout.startswith("# scrape version 2\ndefinitions:\n  scrape:\n")
    file = tmp_path / "shown.yaml"
    file.write_text(result.stdout)
    assert yaml.safe_load(result.stdout)["definitions"]["scrape"]["maxTurns"] == 3
    assert switchyard("definitions", "diff", "scrape", file).exit_code == 0


def test_an_older_version_is_shown_on_request(switchyard: Switchyard) -> None:
    result = switchyard("definitions", "show", "scrape", "--version", "1", "--json")

    assert json.loads(result.stdout)["version"] == 1


@pytest.mark.parametrize("options", [[], ["--to", "2"], ["--from", "1"]], ids=str)
def test_two_versions_that_differ_end_in_1(switchyard: Switchyard, options: list[str]) -> None:
    result = switchyard("definitions", "diff", "scrape", *options)

    assert result.stdout == FROM_1_TO_2
    assert result.exit_code == 1


def test_a_version_does_not_differ_from_itself(switchyard: Switchyard) -> None:
    result = switchyard("definitions", "diff", "scrape", "--from", "2", "--to", "2")

    assert (result.stdout, result.exit_code) == ("", 0)


def test_a_file_is_compared_with_the_latest_version(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "definitions.yaml"
    file.write_text("definitions:\n  scrape: {tag: reader, description: Read.}\n")

    result = switchyard("definitions", "diff", "scrape", file)

    assert "-maxTurns: 3" in result.stdout.splitlines()
    assert f"+++ {file}" in result.stdout.splitlines()
    assert result.exit_code == 1
    assert switchyard("definitions", "diff", "scrape", file, "--from", "1").exit_code == 0


def test_other_limits_of_health_are_a_difference(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "definitions.yaml"
    said = "{tag: reader, description: Read., maxTurns: 3, health: {overtime: 60000}}"
    file.write_text(f"definitions:\n  scrape: {said}\n")

    lines = switchyard("definitions", "diff", "scrape", file).stdout.splitlines()

    assert lines[lines.index("+health:") + 1] == "+  overtime: 60000"


def test_a_file_without_the_definition_is_refused(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "definitions.yaml"
    file.write_text("definitions:\n  other: {tag: reader, description: Read.}\n")

    result = switchyard("definitions", "diff", "scrape", file)

    assert result.stderr == f"{file} has no definition 'scrape'.\n"
    assert result.exit_code == 2


def test_what_can_be_compared_is_said(switchyard: Switchyard, tmp_path: Path) -> None:
    first = switchyard("definitions", "diff", "scrape", "--to", "1")
    both = switchyard("definitions", "diff", "scrape", tmp_path, "--to", "1")

    assert first.stderr.startswith("scrape has no version before 1")
    assert both.stderr == "Give either a file or --to.\n"
    assert (first.exit_code, both.exit_code) == (2, 2)


def test_a_definition_is_deleted(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(
        "DELETE /task-definitions/scrape", answer(DefinitionDeleted(name="scrape", last_version=2))
    )

    result = switchyard("definitions", "delete", "scrape")

    assert result.stdout == "Deleted scrape; its last version was 2.\n"
    assert result.exit_code == 0


def test_a_definition_in_use_is_not_deleted(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("DELETE /task-definitions/scrape", problem(409, "it is in use by job-7"))

    result = switchyard("definitions", "delete", "scrape")

    assert result.stderr == "The API refused: it is in use by job-7.\n"
    assert result.exit_code == 2


@pytest.mark.parametrize("command", ["show", "diff", "delete"])
def test_a_name_that_no_definition_can_have_is_not_asked_for(
    switchyard: Switchyard, api: FakeApi, command: str
) -> None:
    result = switchyard("definitions", command, "../jobs")

    assert "cannot name a definition" in result.stderr
    assert api.requests == []
    assert result.exit_code == 2
