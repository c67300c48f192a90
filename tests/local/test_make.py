"""Commands of make that stop before they begin something they cannot finish."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from switchyard_cli.stages import Stage

ROOT = Path(__file__).parents[2]


def make(
    folder: Path, target: str, *variables: str, stage: str = "dev"
) -> subprocess.CompletedProcess[str]:
    """Run a target of make with a Docker that has no engine, no credentials, and no CDK."""
    docker = folder / "docker"
    docker.write_text("#!/bin/sh\nexit 1\n")
    docker.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    nowhere = {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_DEFAULT_REGION": "eu-west-1",
    }
    return subprocess.run(
        [
            *("make", target, f"STAGE={stage}", "PATH=" + path),
            *("PYTHON=true", "CDK=false cdk", *variables),
        ],
        cwd=ROOT,
        env=without_an_outer_make(os.environ) | nowhere | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def without_an_outer_make(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out what a make that runs these tests passes on: below one, make prints folders."""
    passed_on = {"MAKELEVEL", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES"}
    return {name: value for name, value in environment.items() if name not in passed_on}


def test_a_deployment_that_cannot_work_says_all_that_is_missing_and_synthesizes_nothing(
    tmp_path: Path,
) -> None:
    ended = make(tmp_path, "deploy")
    assert ended.returncode != 0
    assert "No Docker engine answers" in ended.stderr
    assert "AWS does not accept you (Unable to locate credentials). To fix it: aws" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "cdk" not in ended.stdout


def test_the_checks_before_a_deployment_can_be_skipped(tmp_path: Path) -> None:
    ended = make(tmp_path, "deploy", "SKIP_CHECKS=yes")
    assert "are not checked (SKIP_CHECKS=yes)" in ended.stdout
    assert "No Docker engine answers" not in ended.stderr
    assert "cdk deploy --all" in ended.stdout


@pytest.mark.parametrize("target", ["diff", "bootstrap"])
def test_without_credentials_one_sentence_names_what_to_set(target: str, tmp_path: Path) -> None:
    ended = make(tmp_path, target)
    assert ended.returncode != 0
    said, *others = ended.stderr.splitlines()
    assert said.startswith("AWS does not accept you (Unable to locate credentials)")
    assert "set AWS_PROFILE" in said
    assert [line for line in others if not line.startswith("make")] == []
    assert "cdk" not in ended.stdout


def test_a_diff_passes_no_option_that_the_cdk_ignores(tmp_path: Path) -> None:
    ended = make(tmp_path, "diff", "SKIP_CHECKS=yes")
    assert "cdk diff -c stage=" in ended.stdout


@pytest.mark.parametrize("target", ["synth", "diff", "bootstrap", "deploy"])
def test_an_unknown_stage_is_named_with_those_that_exist(target: str, tmp_path: Path) -> None:
    ended = make(tmp_path, target, stage="qa")
    assert ended.returncode != 0
    stages = " ".join(Stage)
    assert ended.stderr.startswith(f"There is no stage qa; the stages are: {stages}\n")
    assert "cdk" not in ended.stdout


def test_a_second_down_says_that_nothing_runs(tmp_path: Path) -> None:
    ended = make(tmp_path, "down", f"ROSTER={tmp_path / 'none.json'}")
    assert ended.returncode == 0
    assert ended.stdout == "The local cloud is not running.\n"


@pytest.mark.parametrize(
    ("active", "command"), [("", ".venv/bin/switchyard"), (f"{ROOT}/.venv", "switchyard")]
)
def test_a_run_names_the_command_as_the_callers_shell_finds_it(
    active: str, command: str, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" != -m ] || echo "$SWITCHYARD_COMMAND"\n')
    python.chmod(0o755)
    ended = make(tmp_path, "run", f"VIRTUAL_ENV={active}", f"BIN={tmp_path}")
    assert ended.stdout == f"{command.replace('.venv/bin', str(tmp_path))}\n"
