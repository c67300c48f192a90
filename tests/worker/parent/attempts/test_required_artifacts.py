"""A task that has to leave artifacts behind, and one that does not."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.states import TaskState
from switchyard.testing.transport import MemoryBlobStore
from tests.worker.harness import WorkerHarness


def add(harness: WorkerHarness, script: str, *artifacts: str, **facts: Any) -> None:
    definition = {
        "kind": "code",
        "tag": None,
        "description": None,
        "command": ["python3", "-c", script],
    }
    ref = harness.add_task(definition=definition, **facts)
    stored = harness.memory.state.payloads
    stored[ref] = replace(stored[ref], artifacts=artifacts)


REPORT = 'open("artifacts/report.md", "w").write("done")'
LINK = 'import os; os.symlink("/etc/hostname", "artifacts/report.md")'
PIPE = 'import os; os.mkfifo("artifacts/report.md")'
LARGE = 'open("artifacts/report.md", "w").truncate(30_000_000)'
OTHER = 'open("artifacts/notes.md", "w").write("x")'


def test_a_task_that_leaves_its_artifacts_completes(harness: WorkerHarness) -> None:
    add(harness, REPORT, "*.md")
    harness.work(harness.quiet)
    assert harness.task().state is TaskState.COMPLETED
    assert harness.blob("artifacts/report.md") == "done"


def test_a_required_artifact_is_not_crowded_out_by_smaller_files(harness: WorkerHarness) -> None:
    many = '[open(f"artifacts/{n}.txt", "w").close() for n in range(250)];'
    add(harness, many + REPORT, "report.md")
    harness.work(harness.quiet)
    assert harness.task().state is TaskState.COMPLETED
    assert harness.blob("artifacts/report.md") == "done"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("pass", "artifacts: nothing matches report.md: the task left no files in its folder"),
        (OTHER, "artifacts: nothing matches report.md; the task left notes.md"),
        (LINK, "artifacts: nothing matches report.md"),
        (PIPE, "artifacts: nothing matches report.md"),
        (LARGE, "artifacts: nothing matches report.md"),
    ],
)
def test_a_task_without_its_artifacts_fails_and_may_be_tried_again(
    harness: WorkerHarness, script: str, said: str
) -> None:
    add(harness, script, "report.md", max_attempts=1)
    harness.work(harness.quiet)
    outcome = harness.task().outcome
    assert harness.task().state is TaskState.FAILED
    assert outcome is not None
    assert (outcome.error or "").startswith(said)
    assert outcome.error_category == "code-failed"
    assert "summary.log" in "".join(harness.memory.blobs.keys(outcome.artifacts or "?"))


def test_a_task_whose_artifacts_cannot_be_stored_has_not_completed(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `artifacts` it would complete: its result is stored, and its files are extra."""
    put = MemoryBlobStore.put

    def refuses_reports(store: MemoryBlobStore, key: str, body: bytes, **how: Any) -> None:
        if key.endswith("report.md"):
            raise Unavailable("the bucket does not answer")
        put(store, key, body, **how)

    monkeypatch.setattr(MemoryBlobStore, "put", refuses_reports)
    add(harness, REPORT, "report.md", max_attempts=1)
    harness.work(harness.quiet)
    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "network")
    assert outcome.error == "its artifacts could not be uploaded: the bucket does not answer"
