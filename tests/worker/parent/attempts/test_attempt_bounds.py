"""What the worker itself computes for an attempt ends with the attempt, and harms no other."""

import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Payload
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.trees import Clock
from tests.builders import JOB
from tests.security.attacks import nested_unevaluated
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

ANSWER = """
    import json, pathlib, sys
    folder = pathlib.Path(sys.argv[-1])
    (folder / "outcome.json").write_text(json.dumps({"status": "completed", "output": {"a": 1}}))
"""


def outcome_of(harness: WorkerHarness, task_id: str = "a") -> tuple[TaskState, str]:
    outcome = harness.task(task_id).outcome
    assert outcome is not None
    return outcome.state, outcome.error or ""


@pytest.mark.parametrize("field", ["input_schema", "output_schema"])
def test_three_tasks_with_an_endless_schema_hold_the_worker_for_seconds_only(
    harness: WorkerHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    """All three slots of the worker; they were occupied for good."""
    monkeypatch.setattr(
        "switchyard_worker.parent.assembly.GuardClient", partial(GuardClient, max_seconds=0.5)
    )
    let_children_run(ANSWER, tmp_path, monkeypatch)
    for task_id in ("a", "b", "c"):
        harness.add_task(task_id, given={"a": 1}, definition={field: nested_unevaluated(24)})
    harness.add_task("d", given={"a": 1})

    harness.work(until=harness.settled, seconds=90)

    for task_id in ("a", "b", "c"):
        state, error = outcome_of(harness, task_id)
        assert state is TaskState.FAILED
        assert "schema cannot be applied: the check took longer than 0.5 s" in error
    assert harness.task("d").state is TaskState.COMPLETED


class SlowPayloads:
    """Reads nothing until it is let go: a table that hangs, or data that takes for ever."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go_on = threading.Event()

    def read_to_start(self, ref: TaskRef) -> Payload:
        self.asked.set()
        self.go_on.wait(20)
        return Payload()

    def outputs(self, job: JobRef, task_ids: Any, *, max_bytes: int | None = None) -> Any:
        return {}


def test_a_time_out_reaches_an_attempt_whose_data_is_still_read(harness: WorkerHarness) -> None:
    harness.memory.payloads = slow = SlowPayloads()  # type: ignore[assignment]
    harness.add_task("a", definition={"timeout": 1_000})
    began = time.monotonic()

    try:
        harness.work(until=harness.settled)
    finally:
        slow.go_on.set()

    assert harness.task("a").state is TaskState.TIMED_OUT
    assert time.monotonic() - began < 10


def test_a_cancel_reaches_an_attempt_whose_data_is_still_read(harness: WorkerHarness) -> None:
    harness.memory.payloads = slow = SlowPayloads()  # type: ignore[assignment]
    harness.configure(visibility_extension_interval=300)
    harness.add_task("a")

    def settled() -> bool:
        if slow.asked.is_set() and not harness.task("a").cancel_requested:
            harness.change("a", cancel_requested=True)
        return harness.settled()

    try:
        harness.work(until=settled)
    finally:
        slow.go_on.set()

    assert harness.task("a").state is TaskState.CANCELLED


def test_a_bug_in_an_attempt_fails_that_attempt_and_the_others_go_on(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Deep folders once raised `RecursionError` while they were looked for."""
    from switchyard_worker.parent.attempts import upload  # noqa: PLC0415

    found = upload.files_to_upload

    def too_deep(
        folder: TaskFolder, *, completed: bool, monotonic: Clock, required: Sequence[str] = ()
    ) -> dict[str, int]:
        if "__a" in str(folder.path):
            raise RecursionError("maximum recursion depth exceeded")
        return found(folder, completed=completed, monotonic=monotonic, required=required)

    monkeypatch.setattr("switchyard_worker.parent.attempts.upload.files_to_upload", too_deep)
    harness.add_task("a", max_attempts=2)
    harness.add_task("b")

    harness.work(until=harness.quiet)

    outcome = harness.task("a").outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (
        TaskState.FAILED,
        FailureCategory.SERVER_ERROR,
    )
    assert outcome.error == "the worker failed: RecursionError: maximum recursion depth exceeded"
    assert harness.task("a").attempt == 2
    assert harness.task("b").state is TaskState.COMPLETED
    assert caplog.messages.count("message failed by a bug") == 2


def test_a_bug_while_a_task_is_settled_leaves_its_message_to_come_again(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settle = harness.memory.leases.settle
    broken = iter([True])

    def once(*args: Any, **facts: Any) -> Any:
        if next(broken, False):
            raise TypeError("of ours")
        return settle(*args, **facts)

    monkeypatch.setattr(harness.memory.leases, "settle", once)
    harness.add_task("a")

    harness.work(until=lambda: "message failed by a bug" in caplog.messages)

    assert JOB.task("a") in harness.memory.state.tasks
    assert harness.memory.queue.waiting == 1
