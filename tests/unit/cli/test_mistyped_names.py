"""A mistyped name of a task, a definition, a trigger or a file is answered with the one meant."""

from pathlib import Path
from typing import Final

import pytest

from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition
from switchyard.contracts.events.views import EventPage, event_type_named
from switchyard_local.source_tree import EXAMPLES
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, answer, problem
from tests.unit.cli.mistaken_files import DEFINITION, JOB
from tests.unit.cli.test_mistakes import Arguments, assert_answered

SCRAPE: Final = RegisteredDefinition(name="scrape", version=1, tag="reader", description="Read.")


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    "command", [("task",), ("artifacts",), ("logs",), ("cancel",), ("events",)], ids=lambda c: c[0]
)
def test_a_mistyped_task(command: Arguments, switchyard: Switchyard, api: FakeApi) -> None:
    unknown = problem(404, "There is no such task.")
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrpe", unknown)
    api.on(f"POST /jobs/{JOB_ID}/tasks/scrpe/cancel", unknown)
    api.on("GET /events", answer(EventPage(events=())))

    assert_answered(switchyard(*command, JOB_ID, "scrpe"), 2, "did you mean 'scrape'?")


@pytest.mark.parametrize(
    "command", [("show", "scrap"), ("diff", "scrap"), ("delete", "scrap")], ids=lambda c: c[0]
)
def test_a_mistyped_definition(command: Arguments, switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(SCRAPE,))))
    api.on("DELETE /task-definitions/scrap", problem(404, "there is no task definition 'scrap'"))

    assert_answered(switchyard("definitions", *command), 2, "did you mean 'scrape'?")


def test_a_mistyped_definition_of_the_file(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    api.on("GET /task-definitions", answer(DefinitionList(definitions=())))
    file = tmp_path / "job.yaml"
    file.write_text(DEFINITION + JOB + "  - {taskId: a, name: scarpe}\n")

    assert_answered(switchyard("submit", file, "--dry-run"), 2, "did you mean 'scrape'?")


@pytest.mark.parametrize("command", ["show", "enable", "disable", "fire", "delete"])
def test_a_mistyped_trigger(command: str, switchyard: Switchyard) -> None:
    assert switchyard("triggers", "apply", EXAMPLES / "triggers.yaml").exit_code == 0

    result = switchyard("triggers", command, "morning-digst")

    assert_answered(result, 2, "did you mean 'morning-digest'?")


def test_a_mistyped_example(switchyard: Switchyard) -> None:
    result = switchyard("run", "brand-analyss")

    assert_answered(result, 2, "There is no file brand-analyss; did you mean 'brand-analysis'?")


def test_a_name_that_is_like_none_points_to_the_examples(switchyard: Switchyard) -> None:
    result = switchyard("run", "nope")

    said = "There is no file nope, and no example of that name: `switchyard examples` lists them."
    assert_answered(result, 2, said)


def test_a_mistyped_file(switchyard: Switchyard, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(JOB)

    result = switchyard("submit", tmp_path / "shpo.yaml")

    assert_answered(result, 2, "shpo.yaml; did you mean 'shop.yaml'?")


def test_a_mistyped_type_of_event() -> None:
    with pytest.raises(ValueError, match="not a type of event; did you mean 'task-failed'"):
        event_type_named("task-faild")
