"""Code tasks: functions and programs run like agents, in a child of their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.events import TaskHeartbeat
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome
from switchyard.functions.packages import content_hash, located
from tests.worker.harness import WorkerHarness

FUNCTIONS = """
import sys
from switchyard.functions import WrongInput, progress, task

@task
def split(text: str, size: int = 3) -> list[str]:
    print("splitting", text)
    return [text[at : at + size] for at in range(0, len(text), size)]

@task
def modules() -> list[str]:
    return sorted(sys.modules)

@task
def broken(message: str = "no luck") -> None:
    raise LookupError(message)

@task
def refusing() -> None:
    raise WrongInput("nothing to do here")

@task
def leaving() -> None:
    sys.exit(3)

@task
def nothing_in_json() -> set[int]:
    return object()

@task
def slow() -> str:
    import time
    progress(0.4, "page 12 of 30")
    time.sleep(1.2)
    progress(1, "page 30 of 30")
    time.sleep(0.8)
    return "done"
"""

Add = Callable[..., None]


@pytest.fixture
def functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("code") / "my_functions"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "text.py").write_text(FUNCTIONS)
    return folder


@pytest.fixture
def add(harness: WorkerHarness, functions: Path) -> Add:
    """Add a task of a function that the worker serves."""
    harness.configure(functions=str(functions))

    def add(name: str, given: Any = None, **facts: Any) -> None:
        definition = {
            "kind": "code",
            "tag": None,
            "description": None,
            "function": f"my_functions.text:{name}",
            "code_hash": content_hash(located(str(functions))),
            **facts,
        }
        harness.add_task(given=given, definition=definition)

    return add


def program(harness: WorkerHarness, *command: str, given: Any = None, **facts: Any) -> None:
    definition = {"kind": "code", "tag": None, "description": None, "command": command, **facts}
    harness.add_task(given=given, definition=definition)


def outcome(harness: WorkerHarness) -> Outcome:
    found = harness.task().outcome
    assert found is not None
    return found


def output(harness: WorkerHarness) -> Any:
    return harness.memory.payloads.read(harness.task().ref).output


def test_a_function_is_called_with_the_input_and_its_result_is_the_output(
    harness: WorkerHarness, add: Add
) -> None:
    add("split", {"text": "abcdefg"}, output_schema={"type": "array"})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED
    assert output(harness) == ["abc", "def", "g"]
    assert outcome(harness).usage.cost_usd == 0
    assert json.loads(harness.blob("artifacts/task-result.json")) == ["abc", "def", "g"]
    assert "splitting abcdefg" in harness.blob("logs/stdout.log")
    assert "code      my_functions.text:split" in harness.blob("logs/summary.log")
    assert harness.emitted == ["Task Processing Started", "Task Completed"]


def test_the_child_of_a_function_imports_no_sdk_and_no_pydantic(
    harness: WorkerHarness, add: Add
) -> None:
    add("modules")

    harness.work(until=harness.quiet)

    imported = {name.partition(".")[0] for name in output(harness)}
    assert "my_functions" in imported
    assert not imported & {"anthropic", "claude_agent_sdk", "pydantic", "boto3", "jsonschema"}


@pytest.mark.parametrize(
    ("function", "given", "category", "error", "attempts"),
    [
        ("broken", None, "code-failed", "LookupError: no luck", 2),
        ("leaving", None, "code-failed", "the function called sys.exit(3)", 2),
        ("split", {"sise": 1, "text": "a"}, "validation", "did you mean 'size'?", 1),
        ("split", None, "validation", "the argument 'text' is missing in the input", 1),
        ("refusing", None, "validation", "nothing to do here", 1),
        ("nothing_in_json", None, "parse", "which is not what its hint says", 1),
        ("unknown", None, "not-found", "has no function 'unknown' that @task marks", 1),
    ],
)
def test_a_function_that_fails_is_tried_again_unless_that_cannot_help(
    harness: WorkerHarness,
    add: Add,
    function: str,
    given: Any,
    category: str,
    error: str,
    attempts: int,
) -> None:
    add(function, given)
    harness.change("a", max_attempts=2)

    harness.work(until=harness.quiet, seconds=60)

    assert harness.task().state is TaskState.FAILED
    assert harness.task().attempt == attempts
    assert outcome(harness).error_category == category
    assert error in (outcome(harness).error or "")


def test_what_a_function_raises_is_cleaned_of_secrets(harness: WorkerHarness, add: Add) -> None:
    add("broken", {"message": "password=hunter2 \x1b[31m"})
    harness.change("a", max_attempts=1)

    harness.work(until=harness.quiet)

    error = outcome(harness).error or ""
    assert error.startswith("LookupError: ")
    assert "hunter2" not in error
    assert "\x1b" not in error


def test_an_output_that_does_not_match_its_schema_fails(harness: WorkerHarness, add: Add) -> None:
    add("split", {"text": "abc"}, output_schema={"type": "object"})

    harness.work(until=harness.quiet)

    assert outcome(harness).error_category == "parse"
    assert "the output does not match its schema" in (outcome(harness).error or "")


def test_an_input_that_does_not_match_its_schema_starts_no_child(
    harness: WorkerHarness, add: Add
) -> None:
    add("split", {"text": 7}, input_schema={"properties": {"text": {"type": "string"}}})

    harness.work(until=harness.quiet)

    assert outcome(harness).error_category == "validation"
    assert harness.emitted == ["Task Failed"]


def test_progress_is_the_activity_of_the_task(harness: WorkerHarness, add: Add) -> None:
    add("slow")
    seen: set[str] = set()

    def done() -> bool:
        signs = harness.task().signs
        seen.add(signs.activity if signs and signs.activity else "")
        return harness.quiet()

    harness.work(until=done)

    assert output(harness) == "done"
    assert {"progress:40 % page 12 of 30", "progress:100 % page 30 of 30"} <= seen
    said = [TaskHeartbeat.model_validate(beat.properties) for beat in harness.heartbeats]
    emitted = [beat.last_activity for beat in said]
    assert "40 % page 12 of 30" in {activity.step_name for activity in emitted if activity}


def test_a_program_reads_its_input_and_writes_its_output(harness: WorkerHarness) -> None:
    script = "cat $INPUT_FILE; echo oops >&2; cp input.json artifacts/result.json"
    program(harness, "sh", "-c", script, given={"a": [1]}, output_schema={"required": ["a"]})

    harness.work(until=harness.quiet)

    assert output(harness) == {"a": [1]}
    assert '{"a": [1]}' in harness.blob("logs/stdout.log")
    assert "oops" in harness.blob("logs/stderr.log")


def test_a_program_that_writes_no_output_completes_with_its_exit_code(
    harness: WorkerHarness,
) -> None:
    program(harness, "true")

    harness.work(until=harness.quiet)

    assert output(harness) == {"exitCode": 0}


@pytest.mark.parametrize(
    ("script", "category", "error", "attempts"),
    [
        ("exit 3", "code-failed", "the program ended with exit code 3", 2),
        ("kill -9 $$", "code-failed", "the program was ended by signal 9", 2),
        ("echo '{' > artifacts/result.json", "parse", "artifacts/result.json is not JSON", 1),
    ],
)
def test_a_program_that_fails_says_how(
    harness: WorkerHarness, script: str, category: str, error: str, attempts: int
) -> None:
    program(harness, "sh", "-c", script)
    harness.change("a", max_attempts=2)

    harness.work(until=harness.quiet, seconds=60)

    assert outcome(harness).error_category == category
    assert error in (outcome(harness).error or "")
    assert harness.task().attempt == attempts


def test_a_program_that_is_not_there_is_not_found(harness: WorkerHarness) -> None:
    program(harness, "no-such-program")

    harness.work(until=harness.quiet)

    assert outcome(harness).error_category == "not-found"
    assert "no-such-program" in (outcome(harness).error or "")


def test_a_worker_with_another_version_hands_the_task_back_and_counts_no_attempt(
    harness: WorkerHarness, add: Add, functions: Path
) -> None:
    add("split", {"text": "abc"})
    (functions / "text.py").write_text(FUNCTIONS + "\n# changed")

    harness.work(until=lambda: "Task Released" in harness.emitted)

    task = harness.task()
    assert task.state is TaskState.QUEUED
    assert task.attempt == 0
    assert harness.emitted == ["Task Released"]
    error = task.last_error or ""
    assert error.startswith("no worker that serves my_functions@")
    assert "has taken it; this worker serves my_functions@" in error
    assert error.endswith("if the code changed: `definitions push`, then `redrive --latest`")
    assert task.not_before_ms > 0


def test_a_worker_serves_what_its_folder_has_now(
    harness: WorkerHarness, add: Add, functions: Path
) -> None:
    (functions / "text.py").write_text(FUNCTIONS + "\n# changed")
    add("split", {"text": "abc"})

    harness.work(until=harness.quiet)

    assert output(harness) == ["abc"]
