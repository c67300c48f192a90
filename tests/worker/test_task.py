"""`python -m switchyard_worker.task` for people: where the input comes from, what is said when it
fails."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from switchyard_worker.parent.supervision.child_environment import child_environment

DEFINITION = {"tag": "painter", "description": "Paint {{input.shop}}."}


@pytest.fixture
def by_hand(tmp_path: Path) -> Any:
    (tmp_path / "inputs").mkdir()

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        paths = child_environment({}, tmp_path, access=None)["PYTHONPATH"]
        return subprocess.run(
            [sys.executable, "-m", "switchyard_worker.task", *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": paths, **variables},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    return run


def prompt(folder: Path) -> str:
    return (folder / ".output" / "r-1" / "logs" / "task-step.prompt.md").read_text()


def test_the_argument_comes_before_the_variable_and_that_before_the_file(
    by_hand: Any, tmp_path: Path
) -> None:
    (tmp_path / "inputs" / "definition.json").write_text(json.dumps(DEFINITION))
    (tmp_path / "inputs" / "input.json").write_text('{"shop": "from the folder"}')
    (tmp_path / "mine.json").write_text('{"shop": "from the variable"}')

    assert by_hand("r-1", '{"shop": "from the argument"}', INPUT_FILE="mine.json").returncode == 0
    assert 'Paint <data from="input.shop">"from the argument"</data>.' in prompt(tmp_path)
    assert by_hand("r-1", INPUT_FILE="mine.json").returncode == 0
    assert 'Paint <data from="input.shop">"from the variable"</data>.' in prompt(tmp_path)
    assert by_hand("r-1").returncode == 0
    assert 'Paint <data from="input.shop">"from the folder"</data>.' in prompt(tmp_path)


def test_everything_lands_in_the_folder_of_the_request(by_hand: Any, tmp_path: Path) -> None:
    assert by_hand("r-1", '"hello"').returncode == 0

    output = tmp_path / ".output" / "r-1"
    assert json.loads((output / "artifacts" / "task-result.json").read_text())
    assert "status    completed" in (output / "logs" / "summary.log").read_text()
    assert json.loads((output / "traces" / "session_trace.json").read_text())["requestId"] == "r-1"


def test_the_output_is_printed_and_no_marker(by_hand: Any, tmp_path: Path) -> None:
    ended = by_hand("r-1", '"hello"')

    result = tmp_path / ".output" / "r-1" / "artifacts" / "task-result.json"
    assert json.loads(ended.stdout) == json.loads(result.read_text())
    assert "::step" not in ended.stdout + ended.stderr


def test_a_task_that_fails_ends_with_one(by_hand: Any, tmp_path: Path) -> None:
    (tmp_path / "inputs" / "definition.json").write_text(json.dumps(DEFINITION))

    ended = by_hand("r-1", "{}")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("failed (validation): ")
    emitted = json.loads((tmp_path / ".output" / "r-1" / "outcome.json").read_text())
    assert (emitted["status"], emitted["category"]) == ("failed", "validation")


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        ((), {}, "usage: python -m switchyard_worker.task REQUEST_ID [INPUT]"),
        (("../r",), {}, "'../r' is not a request id"),
        (("r\n",), {}, "is not a request id"),
        (("r-1", "{"), {}, "the input is not JSON"),
        (("r-1",), {"INPUT_FILE": "gone.json"}, "gone.json"),
        (("r-1",), {"AGENT_BACKEND": "psychic"}, "agent_backend"),
    ],
)
def test_what_cannot_run_is_said_in_a_sentence(
    by_hand: Any, arguments: tuple[str, ...], variables: dict[str, str], words: str
) -> None:
    ended = by_hand(*arguments, **variables)

    assert ended.returncode == 1
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
