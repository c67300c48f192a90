import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from aws_cdk import App

import app
from stacks.errors import UnknownStage
from stacks.paths import REPOSITORY
from stacks.stage import DEV, LOCAL, PROD, STAGES, stage_named


def test_every_stage_is_found_by_its_name() -> None:
    assert {name: stage_named(name).name for name in ("local", "dev", "prod")} == {
        "local": "local",
        "dev": "dev",
        "prod": "prod",
    }


def test_an_unknown_stage_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownStage, match=r"no stage 'nope'; the stages are local, dev, prod"):
        stage_named("nope")


def test_there_is_no_default_stage() -> None:
    with pytest.raises(UnknownStage, match=r"no stage was given.*local, dev, prod"):
        stage_named(None)


@pytest.mark.parametrize(
    ("names_as_of", "name"), [("0.1", "task-queue-dev"), ("0.2", "switchyard-dev-task-queue")]
)
def test_a_stage_keeps_the_names_of_the_release_that_it_was_first_deployed_with(
    names_as_of: Literal["0.1", "0.2"], name: str
) -> None:
    assert replace(DEV, names_as_of=names_as_of).data_name("task-queue") == name


def test_only_prod_keeps_its_data_when_a_stack_is_deleted() -> None:
    keeping = [name for name, stage in STAGES.items() if stage.removal_policy.name != "DESTROY"]
    assert keeping == ["prod"]


@pytest.mark.parametrize("context", [{"stage": "nope"}, {}])
def test_the_app_ends_with_a_sentence(
    context: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "App", lambda: App(context=context))
    with pytest.raises(SystemExit, match=r"^switchyard: .*local, dev, prod"):
        app.main()


def test_the_app_ends_without_a_traceback(tmp_path: Path) -> None:
    cdk_environment = {"CDK_CONTEXT_JSON": "{}", "CDK_OUTDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "app.py"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **cdk_environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("switchyard: ")
    assert "local, dev, prod" in ended.stderr
    assert "Traceback" not in ended.stderr


CEILINGS = (REPOSITORY / "docs" / "definitions.md").read_text().partition("## Ceilings")[2]
HOUR_MS = 60 * 60 * 1000


@pytest.mark.parametrize("column", [2, 3], ids=["local", "dev and prod"])
def test_the_ceilings_are_documented_as_they_are(column: int) -> None:
    rows = [row.split("|") for row in CEILINGS.splitlines() if row.startswith("| ")]
    said = {row[1].strip(): row[column].strip() for row in rows}
    for stage in (LOCAL,) if column == 2 else (DEV, PROD):
        ceilings = stage.ceilings
        assert said["`maxCostUsd`"] == f"{ceilings.max_cost_usd:,.0f}"
        assert said["`maxTurns`"] == f"{ceilings.max_turns}"
        assert said["`timeout`"] == f"{ceilings.max_timeout_ms // HOUR_MS} h"
        assert said["open tasks of a tenant"] == f"{ceilings.max_open_tasks:,}"
        assert (said["`model`"] == "any") == (ceilings.models is None)
        assert (said["`tools`"] == "any") == (ceilings.tools is None)


@pytest.mark.parametrize("user", ["ada", "#ops", ""])
def test_an_operator_who_is_no_slack_user_is_refused(user: str) -> None:
    with pytest.raises(ValueError, match="slack_operators of the stage dev: the operator"):
        replace(DEV, slack_operators=(user,))


def test_only_the_local_stage_lets_everybody_press() -> None:
    assert [stage.name for stage in STAGES.values() if "*" in stage.slack_operators] == ["local"]
