"""`python -m switchyard_worker.task` for people: where the input comes from, what is said when it
fails."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from switchyard_worker.boundary import TASK_FILE
from switchyard_worker.parent.supervision.child_environment import child_environment
from switchyard_worker.task import prepare

DEFINITION = {"tag": "painter", "description": "Paint {{input.shop}}."}


def by_hand(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as people do."""
    paths = child_environment({}, folder, access=None)["PYTHONPATH"]
    return subprocess.run(
        [sys.executable, "-m", "switchyard_worker.task", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is given; also this process is there."""
    (tmp_path / "inputs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Done:
    printed: str
    errors: str
    output: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A task that completed."""
    folder = tmp_path_factory.mktemp("by-hand")
    ended = by_hand(folder, "r-1", '"hello"')
    assert ended.returncode == 0, ended.stderr
    return Done(ended.stdout, ended.stderr, folder / ".output" / "r-1")


def test_the_argument_comes_before_the_variable_and_that_before_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "inputs" / "definition.json").write_text(json.dumps(DEFINITION))
    (folder / "inputs" / "input.json").write_text('{"shop": "from the folder"}')
    (folder / "mine.json").write_text('{"shop": "from the variable"}')
    argument = '{"shop": "from the argument"}'

    assert by_hand(folder, "r-1", argument, INPUT_FILE="mine.json").returncode == 0
    prompt = (folder / ".output" / "r-1" / "logs" / "task-step.prompt.md").read_text()
    assert 'Paint <data from="input.shop">"from the argument"</data>.' in prompt
    assert input_of(prepare(["r-2"])) == {"shop": "from the folder"}
    monkeypatch.setenv("INPUT_FILE", "mine.json")
    assert input_of(prepare(["r-3"])) == {"shop": "from the variable"}
    assert input_of(prepare(["r-4", argument])) == {"shop": "from the argument"}


def input_of(folder: Path) -> Any:
    return json.loads((folder / TASK_FILE).read_text())["input"]


def test_everything_lands_in_the_folder_of_the_request(done: Done) -> None:
    assert json.loads((done.output / "artifacts" / "task-result.json").read_text())
    assert "status    completed" in (done.output / "logs" / "summary.log").read_text()
    trace = json.loads((done.output / "traces" / "session_trace.json").read_text())
    assert trace["requestId"] == "r-1"


def test_the_output_is_printed_and_no_marker(done: Done) -> None:
    result = done.output / "artifacts" / "task-result.json"
    assert json.loads(done.printed) == json.loads(result.read_text())
    assert "::step" not in done.printed + done.errors


@pytest.mark.long
def test_a_task_that_fails_ends_with_one(folder: Path) -> None:
    (folder / "inputs" / "definition.json").write_text(json.dumps(DEFINITION))

    ended = by_hand(folder, "r-1", "{}")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("failed (validation): ")
    emitted = json.loads((folder / ".output" / "r-1" / "outcome.json").read_text())
    assert (emitted["status"], emitted["category"]) == ("failed", "validation")


def test_what_cannot_run_is_said_without_a_traceback(folder: Path) -> None:
    ended = by_hand(folder, "r-1", "{")

    assert ended.returncode == 1
    assert ended.stderr.startswith("the input is not JSON: ")
    assert "Traceback" not in ended.stderr


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
@pytest.mark.usefixtures("folder")
def test_what_cannot_run_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    variables: dict[str, str],
    words: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit) as ended:
        prepare(arguments)

    assert isinstance(ended.value.code, str)  # which is printed, and exits with 1
    assert words in ended.value.code
    assert "Traceback" not in ended.value.code
