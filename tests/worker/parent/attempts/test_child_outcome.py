"""An agent may write anything into its folder; the worker believes little of it."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from switchyard.adapters.system import SystemClock, ThreadOffload, system_sleep
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Lease
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.child_outcome import MAX_OUTCOME_BYTES, Judge
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.upload import MAX_FILES, Uploader
from switchyard_worker.parent.attempts.verdict import Concluded
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import a_task
from tests.worker.harness import WorkerHarness


def judged(
    folder: Path,
    written: Any = None,
    *,
    exit_code: int = 0,
    schema: dict[str, Any] | None = None,
    secret: str | None = None,
) -> Concluded:
    if written is not None:
        text = written if isinstance(written, str) else json.dumps(written)
        (folder / "outcome.json").write_text(text)

    async def story() -> Concluded:
        offload = ThreadOffload(threads=1)
        guard = GuardClient(clock=SystemClock(), sleep=system_sleep, host_environment={})
        judge = Judge(guard=guard, offload=offload)
        try:
            return await judge.verdict(
                TaskFolder.opened(folder),
                exit_code=exit_code,
                duration_ms=1,
                schema=schema,
                redaction=Redaction(secret),
            )
        finally:
            await guard.close()
            offload.close()

    return asyncio.run(story())


def category(verdict: Concluded) -> FailureCategory | None:
    return verdict.category


def test_a_child_that_was_killed_died_and_may_be_tried_again(tmp_path: Path) -> None:
    verdict = judged(tmp_path, exit_code=-9)

    assert category(verdict) is FailureCategory.CHILD_DIED
    assert FailureCategory.CHILD_DIED.transient


def test_an_outcome_that_its_exit_code_belies_is_not_believed(tmp_path: Path) -> None:
    completed = {"status": "completed", "output": 1}

    assert category(judged(tmp_path, completed, exit_code=1)) is FailureCategory.CHILD_DIED


@pytest.mark.parametrize(
    "written",
    [
        "no JSON",
        '{"status": "fine"}',
        '{"status": "completed", "usage": {"inputTokens": -1}}',
        '{"status": "completed", "output": NaN}',
        '{"status": "completed", "output": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"status": "completed", "output": "' + "x" * MAX_OUTCOME_BYTES + '"}',
    ],
    ids=["text", "status", "usage", "nan", "deep", "large"],
)
def test_an_outcome_that_cannot_be_understood_fails_the_task(tmp_path: Path, written: str) -> None:
    assert category(judged(tmp_path, written)) is FailureCategory.PARSE


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"costUsd": 1e300}, "costUsd"),
        ({"durationMs": 10**50}, "durationMs"),
        ({"usage": {"inputTokens": 10**50}}, "usage.inputTokens"),
    ],
    ids=["cost", "duration", "tokens"],
)
def test_a_figure_that_cannot_be_true_fails_the_task(
    tmp_path: Path, facts: dict[str, Any], place: str
) -> None:
    verdict = judged(tmp_path, {"status": "completed"} | facts)

    assert verdict.failed
    assert verdict.category is FailureCategory.PARSE
    assert f"understood: {place}: Input should be less than" in str(verdict.outcome.error)


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("[" * 100 + "]" * 100, "nested"),
        ('{"x": [-Infinity]}', "-inf"),
    ],
    ids=["deep", "infinite"],
)
def test_an_output_that_cannot_be_kept_fails_the_task_but_not_its_figures(
    tmp_path: Path, output: str, problem: str
) -> None:
    written = f'{{"status": "completed", "output": {output}, "costUsd": 0.5}}'

    verdict = judged(tmp_path, written)

    assert verdict.failed
    assert (verdict.category, verdict.outcome.usage.cost_usd) == (FailureCategory.PARSE, 0.5)
    assert problem in str(verdict.outcome.error)


def test_a_cost_too_small_to_be_kept_is_none(tmp_path: Path) -> None:
    verdict = judged(tmp_path, '{"status": "completed", "output": 1, "costUsd": 1e-200}')
    assert verdict.completed
    assert verdict.outcome.usage.cost_usd == 0


def test_half_a_character_fails_the_task(tmp_path: Path) -> None:
    verdict = judged(tmp_path, '{"status": "completed", "output": "\\ud800"}')

    assert category(verdict) is FailureCategory.PARSE


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_an_outcome_that_is_no_ordinary_file_is_not_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "outcome.json"
    (tmp_path / "elsewhere").write_text('{"status": "completed"}')
    make = {"link": lambda: path.symlink_to("elsewhere"), "pipe": lambda: os.mkfifo(path)}
    make.get(kind, path.mkdir)()

    assert category(judged(tmp_path)) is FailureCategory.PARSE


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#/nowhere"}, {"$ref": "http://127.0.0.1:9/x"}, {"$ref": "#"}, {"pattern": "("}],
)
def test_a_schema_that_cannot_be_applied_fails_the_task(
    tmp_path: Path, schema: dict[str, Any]
) -> None:
    verdict = judged(tmp_path, {"status": "completed", "output": "x"}, schema=schema)

    assert category(verdict) is FailureCategory.VALIDATION


@pytest.mark.parametrize("spelt", ["sk-canary", "\\u0073k-canary"], ids=["plain", "escaped"])
def test_a_credential_is_redacted_however_it_is_spelt(tmp_path: Path, spelt: str) -> None:
    written = f'{{"status": "completed", "output": {{"{spelt}": ["{spelt}"]}}}}'
    verdict = judged(tmp_path, written, secret="sk-canary")
    assert verdict.completed
    assert verdict.output == {"[redacted]": ["[redacted]"]}


def test_a_credential_in_the_output_is_redacted(tmp_path: Path) -> None:
    verdict = judged(
        tmp_path, {"status": "completed", "output": "key sk-canary"}, secret="sk-canary"
    )

    assert verdict.completed
    assert verdict.output == "key [redacted]"


def test_links_and_unprintable_names_are_not_uploaded(
    harness: WorkerHarness, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("canary")
    folder = TaskFolder.fresh(tmp_path / "output", Lease(a_task(fence=3), "me"))
    artifacts = folder.path / "artifacts"
    (artifacts / "good.txt").write_text("the key is sk-canary")
    (artifacts / "link.txt").symlink_to(tmp_path / "secret")
    (artifacts / "folder").symlink_to(tmp_path)
    (artifacts / "two\nlines.txt").write_text("x")
    os.mkfifo(artifacts / "pipe")
    (folder.path / "traces").rmdir()
    (folder.path / "traces").symlink_to(tmp_path)

    uploaded = _upload(harness, folder, secret="sk-canary")

    assert uploaded == {"p/artifacts/good.txt": b"the key is [redacted]"}


def test_only_the_names_below_the_folder_are_looked_at(
    harness: WorkerHarness, tmp_path: Path
) -> None:
    folder = TaskFolder.fresh(tmp_path / "my\u00a0clone\u200b", Lease(a_task(), "me"))
    (folder.path / "artifacts" / "good.txt").touch()

    assert set(_upload(harness, folder)) == {"p/artifacts/good.txt"}


def test_too_many_files_are_left_out(harness: WorkerHarness, tmp_path: Path) -> None:
    folder = TaskFolder.fresh(tmp_path, Lease(a_task(), "me"))
    for number in range(MAX_FILES + 5):
        (folder.path / "artifacts" / f"{number}.txt").touch()

    assert len(_upload(harness, folder)) == MAX_FILES


def test_a_folder_is_named_by_checked_ids_and_fence(tmp_path: Path) -> None:
    folder = TaskFolder.fresh(tmp_path, Lease(a_task("a", fence=3), "me"))

    assert folder.path == tmp_path / a_task("a").ref.request_id / "3"
    with pytest.raises(ValueError, match="cannot name a folder"):
        TaskFolder.fresh(tmp_path, Lease(a_task("../a"), "me"))


def _upload(
    harness: WorkerHarness, folder: TaskFolder, secret: str | None = None
) -> dict[str, bytes]:
    uploader = Uploader(runtime_of(harness.ports()), harness.memory.blobs, Redaction(secret))
    asyncio.run(uploader.upload(folder, prefix="p/", completed=False))
    return harness.memory.blobs.blobs
