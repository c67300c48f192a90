"""What an attempt leaves behind: in the bucket, on the disk, and when the bucket is away."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.events import TaskCompleted
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import TaskState
from switchyard_worker.parent.attempts.upload import files_to_upload
from switchyard_worker.parent.files.folder import UPLOADED, TaskFolder
from tests.builders import JOB
from tests.worker.harness import WorkerHarness

LONG = {"offline": {"delayMs": 60_000}}


@pytest.fixture
def no_bucket(harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(key: str, body: bytes, *, content_type: str) -> None:
        raise Unavailable("the bucket is away")

    monkeypatch.setattr(harness.memory.blobs, "put", put)


@pytest.mark.usefixtures("no_bucket")
@pytest.mark.parametrize(
    ("given", "timeout", "state", "category"),
    [
        ({"offline": {"fail": {"category": "auth"}}}, None, TaskState.FAILED, "auth"),
        (LONG, 1_000, TaskState.TIMED_OUT, "timeout"),
    ],
)
def test_a_verdict_stays_what_it_is_though_its_files_are_lost(
    harness: WorkerHarness, given: Any, timeout: int | None, state: TaskState, category: str
) -> None:
    harness.add_task(given=given, definition={"timeout": timeout})

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (state, category)
    assert outcome.artifacts is None


@pytest.mark.usefixtures("no_bucket")
def test_a_cancelled_task_is_cancelled_though_its_files_are_lost(harness: WorkerHarness) -> None:
    harness.add_task(given=LONG)

    def cancelled() -> bool:
        if harness.emitted and not harness.task().cancel_requested:
            harness.change("a", cancel_requested=True)
        return harness.quiet()

    harness.work(until=cancelled)

    assert harness.emitted == ["Task Processing Started", "Task Cancelled"]


@pytest.mark.usefixtures("no_bucket")
def test_no_task_is_completed_before_its_result_is_kept_but_what_it_cost_is_told(
    harness: WorkerHarness,
) -> None:
    harness.add_task(given={"offline": {"usage": {"costUsd": 0.5}, "delayMs": 10}}, attempt=2)

    harness.work(until=harness.quiet)

    outcome = harness.task().outcome
    assert outcome is not None
    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, "network")
    assert "the bucket is away" in (outcome.error or "")
    assert outcome.usage.cost_usd == 0.5
    assert outcome.duration_ms >= 10


def test_a_large_output_is_kept_and_told_as_it_is(harness: WorkerHarness) -> None:
    large = {"text": "é\n\u2028" + "x" * 3_000_000, "numbers": [1.0, 10**40, -0.5]}
    harness.add_task(given={"offline": {"output": large}})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED
    assert json.loads(harness.blob("artifacts/task-result.json")) == large
    assert harness.memory.payloads.read(JOB.task("a")).output == large
    emitted = harness.memory.bus.events[-1].properties
    assert isinstance(emitted, TaskCompleted)
    assert json.dumps(emitted.output) == json.dumps(large)


class TestFilesThatAreNotToBeKept:
    @pytest.fixture(autouse=True)
    def _delete(self, harness: WorkerHarness) -> None:
        harness.configure(delete_files_after_upload=True)

    def test_go_after_the_upload(self, harness: WorkerHarness) -> None:
        harness.add_task()

        harness.work(until=harness.quiet)

        assert harness.blob("artifacts/task-result.json")
        assert not list(harness.folder.iterdir())

    @pytest.mark.usefixtures("no_bucket")
    def test_go_when_they_cannot_be_uploaded(self, harness: WorkerHarness) -> None:
        harness.add_task()

        harness.work(until=harness.quiet)

        assert not list(harness.folder.iterdir())

    def test_go_when_the_task_is_handed_back(self, harness: WorkerHarness) -> None:
        harness.configure(stop_grace_seconds=0)
        harness.add_task(given=LONG)

        harness.work(until=lambda: bool(harness.emitted))

        assert harness.task().state is TaskState.QUEUED
        assert not list(harness.folder.iterdir())

    def test_go_when_the_lease_is_lost(self, harness: WorkerHarness) -> None:
        harness.add_task(given=LONG)

        def lost() -> bool:
            if harness.emitted:
                harness.change("a", owner="another", fence=9)
            return bool(harness.emitted) and not list(harness.folder.iterdir())

        harness.work(until=lost)

        assert harness.task().owner == "another"

    def test_leave_those_of_another_attempt_alone(self, harness: WorkerHarness) -> None:
        ref = harness.add_task()
        other = harness.folder / ref.request_id / "9"
        other.mkdir(parents=True)

        harness.work(until=harness.quiet)

        assert [path.name for path in other.parent.iterdir()] == ["9"]


def test_a_tree_that_cannot_be_walked_costs_only_itself(tmp_path: Path) -> None:
    """Deeper than a path may be long; and what is gone when it is looked at."""
    for top in UPLOADED:
        (tmp_path / top).mkdir()
    (tmp_path / "artifacts" / "good.txt").write_text("good")
    (tmp_path / "artifacts" / "gone.txt").symlink_to("nowhere")
    here = os.open(tmp_path / "artifacts", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f" * 250, os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    folder = TaskFolder.opened(tmp_path)
    found = files_to_upload(folder, completed=True, monotonic=time.monotonic)
    assert found == {"artifacts/good.txt": 4}


def test_a_bucket_that_is_away_for_a_while_costs_no_second_attempt(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = iter(range(8))
    accept = harness.memory.blobs.put

    def put(key: str, body: bytes, *, content_type: str) -> None:
        if next(refusals, None) is not None:
            raise Unavailable("the bucket is away")
        accept(key, body, content_type=content_type)

    monkeypatch.setattr(harness.memory.blobs, "put", put)
    harness.add_task()
    harness.work(until=harness.quiet)
    assert (harness.task().state, harness.task().attempt) == (TaskState.COMPLETED, 1)
    assert json.loads(harness.blob("artifacts/task-result.json")) is not None


def test_what_is_refused_of_a_tasks_files_is_logged_with_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in UPLOADED:
        (tmp_path / name).mkdir()
    (tmp_path / "artifacts" / "fine").write_text("x")
    (tmp_path / "artifacts" / "link").symlink_to("/proc/self/environ")
    os.mkfifo(tmp_path / "artifacts" / "pipe")
    (tmp_path / "artifacts" / "es\x1bcape").write_text("x")
    (tmp_path / "traces").rmdir()
    (tmp_path / "traces").symlink_to("/proc/self")
    folder = TaskFolder.opened(tmp_path)
    chosen = files_to_upload(folder, completed=False, monotonic=time.monotonic)
    folder.close()

    assert list(chosen) == ["artifacts/fine"]
    (record,) = [vars(r) for r in caplog.records if r.getMessage() == "files are left out"]
    assert record["folder"] == str(tmp_path)
    assert record["refused"]["is not an ordinary file"] == 2
    assert record["refused"]["has a name that cannot be stored"] == 1
    assert sum(record["refused"].values()) == 4


def test_evidence_that_a_child_wrote_is_not_uploaded(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "commitments.json").write_text('{"verified": true}')
    folder = TaskFolder.opened(tmp_path)
    assert files_to_upload(folder, completed=True, monotonic=time.monotonic) == {}
    folder.close()
