"""Everything that can go wrong with a task has a name, and the worker outlives it."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

Misbehave = Callable[[str], None]

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def misbehave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Misbehave:
    return lambda code: let_children_run(code, tmp_path, monkeypatch)


def outcome(harness: WorkerHarness, task_id: str = "a") -> Outcome:
    found = harness.task(task_id).outcome
    assert found is not None
    return found


def failure(harness: WorkerHarness, **task: Any) -> tuple[str | None, str]:
    """Return the failure of a task on its last attempt. Other tasks are done afterwards as ever."""
    harness.add_task(attempt=2, **task)
    harness.work(until=harness.quiet, seconds=60)
    assert outcome(harness).state is TaskState.FAILED
    assert harness.emitted[-1] == "Task Failed"
    return outcome(harness).error_category, outcome(harness).error or ""


def test_an_input_that_violates_its_schema(harness: WorkerHarness) -> None:
    category, error = failure(harness, given={"n": "x"}, definition={"input_schema": NUMBER})

    assert category == "validation"
    assert error == "the input does not match its schema: $.n: 'x' is not of type 'integer'"


def test_an_input_that_fits_its_schema_is_no_failure(harness: WorkerHarness) -> None:
    harness.add_task(given={"n": 1}, definition={"input_schema": NUMBER})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED


def test_an_input_schema_that_cannot_be_applied(harness: WorkerHarness) -> None:
    schema = {"$ref": "#/nowhere"}

    category, error = failure(harness, given=1, definition={"input_schema": schema})

    assert category == "validation"
    assert "the input schema cannot be applied" in error


def test_a_placeholder_without_a_value(harness: WorkerHarness) -> None:
    category, error = failure(harness, definition={"description": "Look at {{tasks.gone.output}}."})

    assert (category, error) == (
        "validation",
        "{{tasks.gone.output}} in the description has no value",
    )


def test_a_step_that_takes_too_long_may_be_tried_again(harness: WorkerHarness) -> None:
    step = {"name": "slow", "description": "Take your time.", "timeout": 1_000}

    category, error = failure(
        harness, given={"offline": {"delayMs": 60_000}}, definition={"steps": [step]}
    )

    assert (category, error) == ("timeout", "step 'slow': the step took longer than 1000 ms")


@pytest.mark.long
def test_a_hundred_megabytes_printed(harness: WorkerHarness, misbehave: Misbehave) -> None:
    misbehave("for _ in range(100): print('x\\n' * 500_000, flush=True)")

    category, error = failure(harness)

    assert (category, error) == ("validation", "the child printed more than 50 MB")
    assert len(harness.blob("logs/stdout.log")) < 2_000_000


def test_a_child_that_ignores_sigterm(harness: WorkerHarness, misbehave: Misbehave) -> None:
    misbehave("""
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    """)
    harness.add_task(definition={"timeout": 1_000})

    harness.work(until=harness.quiet)

    assert (outcome(harness).state, outcome(harness).signal) == (TaskState.TIMED_OUT, "SIGKILL")


def test_a_child_that_is_killed(harness: WorkerHarness, misbehave: Misbehave) -> None:
    misbehave("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    category, error = failure(harness)

    assert category == "child-died"
    assert error == (
        "the child was killed, as by the system when memory runs out, and left no outcome"
    )


def test_a_child_that_leaves_without_a_word(harness: WorkerHarness, misbehave: Misbehave) -> None:
    misbehave("import sys; sys.exit(3)")

    assert failure(harness) == (
        "child-died",
        "the child ended with exit code 3 and left no outcome",
    )


def test_a_child_that_removes_its_folder(harness: WorkerHarness, misbehave: Misbehave) -> None:
    misbehave("import shutil, sys; shutil.rmtree(sys.argv[-1])")

    category, _ = failure(harness)

    assert category == "child-died"


AN_AGENT_THAT = """
    import sys
    from pathlib import Path
    from switchyard_worker.child import __main__ as task

    folder = Path(sys.argv[-1])

    class Agent:
        def run(self, prompt, assignment):
            {does}

    task.agent_for = lambda backend: Agent()
    sys.exit(task.main(folder))
"""


def test_a_file_that_is_too_large(harness: WorkerHarness, misbehave: Misbehave) -> None:
    does = '(folder / "artifacts" / "large.bin").write_bytes(bytes(100 * 1024 * 1024 + 1))'
    misbehave(AN_AGENT_THAT.format(does=does))

    category, error = failure(harness)

    assert (category, error) == (
        "validation",
        "a file would be larger than the 100 MB that are allowed",
    )


def test_more_memory_than_there_is(harness: WorkerHarness, misbehave: Misbehave) -> None:
    misbehave(AN_AGENT_THAT.format(does="bytearray(300_000_000)"))
    harness.configure(child_memory_mb=256)

    category, error = failure(harness)

    assert (category, error) == (
        "child-died",
        "out of memory: a process of a task may use 256 MB",
    )


def test_a_folder_that_cannot_be_made(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(
        "switchyard_worker.parent.files.folder.TaskFolder.fresh", Mock(side_effect=refused)
    )

    category, error = failure(harness)

    assert category == "server-error"
    assert error.startswith("the child could not be started: ")


def test_a_program_that_cannot_be_started(
    harness: WorkerHarness, misbehave: Misbehave, tmp_path: Path
) -> None:
    misbehave("")
    (tmp_path / "python").unlink()

    category, error = failure(harness)

    assert category == "server-error"
    assert error.startswith("the child could not be started: FileNotFoundError")


def test_a_worker_goes_on_after_each_of_them(harness: WorkerHarness) -> None:
    harness.add_task("bad", given="x", definition={"input_schema": NUMBER})
    harness.add_task("missing", definition={"description": "{{input.x}}"})
    harness.add_task("good", given={"offline": {"output": {"n": 1}}})

    harness.work(until=harness.quiet)

    assert {ref.task_id: task.state for ref, task in harness.memory.state.tasks.items()} == {
        "bad": TaskState.FAILED,
        "missing": TaskState.FAILED,
        "good": TaskState.COMPLETED,
    }


def test_five_megabytes_of_output_are_fine(harness: WorkerHarness) -> None:
    large = {"text": "x" * 5_000_000}
    harness.add_task(given={"offline": {"output": large}})

    harness.work(until=harness.quiet, seconds=60)

    assert json.loads(harness.blob("artifacts/task-result.json")) == large


def test_no_secret_in_an_error_is_stored_or_told(harness: WorkerHarness) -> None:
    key = "sk-ant-api03-" + "a1" * 20
    fail = {"category": "auth", "message": f"bad key {key} at https://me:pw@host/x"}

    _, error = failure(harness, given={"offline": {"fail": fail}})

    assert error == "bad key [redacted] at https://[redacted]@host/x"
    assert key not in str(harness.memory.bus.events)
    assert key not in harness.blob("logs/summary.log")
