"""`redrive --from`, `--dry-run` and `--latest`."""

import json
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.changes import OlderVersion, PlannedTask, RedriveAccepted
from switchyard.contracts.definitions import RegisteredDefinition
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, a_task, a_task_view, answer

NAME = a_task("list", "failed").name
REDRIVE = f"POST /jobs/{JOB_ID}/redrive"
ACCEPTED = RedriveAccepted(job_id=JOB_ID, run=3, ready_tasks=("list",), reopened_tasks=2)
PLANNED = RedriveAccepted(
    job_id=JOB_ID,
    status="planned",
    run=3,
    ready_tasks=("list",),
    reopened_tasks=3,
    cost_usd=1.25,
    planned_tasks=(
        PlannedTask(task_id="list", status="completed", at_once=True, cost_usd=0.25),
        PlannedTask(task_id="review", status="completed", at_once=False, cost_usd=1, items=4),
    ),
)
SHOWN = f"""{JOB_ID}: run 3 will run
  list (completed, cost $0.2500)
  review (completed, cost $1.0000), with its 4 items made anew; if its rule and its condition hold
  … and 1 more
3 tasks, which cost $1.2500 the last time: that is paid again.
"""


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on(REDRIVE, answer(PLANNED, 202), answer(ACCEPTED, 202))
    return api


def bodies(api: FakeApi) -> list[Any]:
    return [json.loads(request.content) for request in api.requests if request.method == "POST"]


def test_what_will_run_is_shown_and_asked_for_first(
    switchyard: Switchyard, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[str] = []

    def say_yes(text: str, **_: object) -> bool:
        asked_for.append(text)
        return True

    monkeypatch.setattr("typer.confirm", say_yes)
    result = switchyard("redrive", JOB_ID, "--from", "list")
    assert result.stdout.startswith(SHOWN)
    assert result.stdout.endswith(f"{JOB_ID}: run 3, 1 task at once and 1 after\n")
    assert asked_for == ["Run 3 tasks again?"]
    asked = {"tasks": [], "from": ["list"]}
    assert bodies(api) == [asked | {"dryRun": True}, asked | {"run": 2}]


def test_without_a_yes_nothing_runs(switchyard: Switchyard, api: FakeApi) -> None:
    assert switchyard("redrive", JOB_ID, "--from", "list").exit_code == 1
    assert [body.get("dryRun") for body in bodies(api)] == [True]


def test_yes_asks_and_shows_nothing(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(REDRIVE, answer(ACCEPTED, 202))
    result = switchyard("redrive", JOB_ID, "--from", "list", "--yes", "--latest")
    assert result.stdout == f"{JOB_ID}: run 3, 1 task at once and 1 after\n"
    assert bodies(api) == [{"tasks": [], "from": ["list"], "latest": True}]


def test_a_dry_run_only_shows(switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("redrive", JOB_ID, "list", "--dry-run")
    assert (result.stdout, result.exit_code) == (SHOWN, 0)
    assert bodies(api) == [{"tasks": ["list"], "dryRun": True}]


def test_a_dry_run_for_programs(switchyard: Switchyard) -> None:
    result = switchyard("redrive", JOB_ID, "--from", "list", "--dry-run", "--json")
    shown = json.loads(result.stdout)
    assert (shown["status"], shown["costUsd"]) == ("planned", 1.25)
    assert shown["plannedTasks"][1]["items"] == 4


def test_what_stays_and_what_is_old_is_said_with_the_command_that_changes_it(
    switchyard: Switchyard, api: FakeApi
) -> None:
    older = OlderVersion(task_id="review[3]", definition="review", version=2, latest=5)
    more = {"stale_tasks": ("sum", "report"), "older_versions": (older,)}
    api.on(REDRIVE, answer(ACCEPTED.model_copy(update=more), 202))
    result = switchyard("redrive", JOB_ID, "review[3]")
    assert "sum, report completed before" in result.stderr
    assert f"`switchyard redrive {JOB_ID} --from 'sum'`" in result.stderr
    assert "review has version 5, and review[3] runs 2. Add --latest" in result.stderr


@pytest.mark.parametrize(("latest", "version"), [((), "/versions/1"), (("--latest",), "")])
def test_a_new_input_is_compared_with_the_schema_of_its_definition(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path, latest: tuple[str, ...], version: str
) -> None:
    schema = {"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}}
    definition = RegisteredDefinition(
        name=NAME, version=1, description="d", tag="t", input_schema=schema
    )
    api.on(f"GET /jobs/{JOB_ID}/tasks/list", answer(a_task_view(a_task("list", "failed"))))
    api.on(f"GET /task-definitions/{NAME}{version}", answer(definition))
    given = tmp_path / "input.yaml"
    given.write_text("url: 3\n")
    result = switchyard("redrive", JOB_ID, "list", "--input", given, *latest)
    assert result.exit_code != 0
    assert "3 is not of type 'string'" in result.stderr
    assert bodies(api) == []
