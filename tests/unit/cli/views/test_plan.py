"""`submit --dry-run` tells what would happen, with no cloud in sight."""

import json
from pathlib import Path

import pytest

from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeApi, FakeCloud, answer

JOB = """\
name: brand
definitions:
  scrape: {tag: reader, description: Read the shop.}
tasks:
  - {taskId: report, name: compile, dependsOn: [colors, fonts], rule: all_settled}
  - {taskId: scrape, name: scrape}
  - {taskId: colors, name: scrape, dependsOn: [scrape]}
  - {taskId: fonts, name: scrape, dependsOn: [scrape]}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "brand.yml"
    file.write_text(JOB)
    return file


def test_the_plan_as_json(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    registered = RegisteredDefinition(name="compile", version=1, description="d", tag="t")
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(registered,))))

    result = switchyard("submit", "--dry-run", "--json", file)

    assert json.loads(result.stdout) == {
        "name": "brand",
        "totalTasks": 4,
        "levels": [["scrape"], ["colors", "fonts"], ["report"]],
        "rootTasks": ["scrape"],
        "resultTasks": ["report"],
        "definitionsInFile": ["scrape"],
        "definitionsExpected": ["compile"],
    }
    assert {request.method for request in api.requests} <= {"GET"}


def test_the_plan_for_people(file: Path, switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    result = switchyard("submit", "--dry-run", file)

    assert result.exit_code == 0
    assert "brand: 4 tasks in 3 levels" in result.stdout
    assert "rule all_settled; after colors, fonts" in result.stdout
    assert "Expects to be registered: compile" in result.stdout
    assert result.stderr.startswith("Registered definitions are not checked: The local cloud is n")
    assert result.stderr.endswith(f"{file} is valid; nothing was sent.\n")


def test_a_dry_run_checks_inputs_against_registered_schemas(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    schema = {"type": "object", "required": ["title", "text"]}
    compile_ = RegisteredDefinition(
        name="compile", version=3, description="d", tag="t", input_schema=schema
    )
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(compile_,))))
    file.write_text(JOB.replace("rule: all_settled", "input: {}"))

    result = switchyard("submit", "--dry-run", file)

    assert result.exit_code == 2
    assert f"{file}:5: tasks[0].input: 'title' is a required property" in result.stderr
    assert f"{file}:5: tasks[0].input: 'text' is a required property" in result.stderr


def test_a_registered_definition_is_drawn_as_what_it_is_after_one_read(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    compile_ = RegisteredDefinition(name="compile", version=3, kind="code", command=("sort",))
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(compile_,))))

    result = switchyard("submit", "--dry-run", file)

    assert "ƒ report; definition compile" in result.stdout
    assert "agent or code" not in result.stdout
    assert len(api.requests) == 1


def test_a_definition_behind_the_first_page_is_read_by_its_name(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    compile_ = RegisteredDefinition(name="compile", version=3, kind="code", command=("sort",))
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(), cursor="a")))
    api.on("GET /task-definitions/compile", answer(compile_))

    assert "ƒ report" in switchyard("submit", "--dry-run", file).stdout
