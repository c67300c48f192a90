"""Files that a task wrote outside `artifacts`: listed within bounds, whatever their names are."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.left_behind import (
    MAX_LISTED,
    MAX_LOOKED_AT,
    MAX_NAME_CHARACTERS,
    LeftBehind,
    left_behind,
)
from switchyard_worker.parent.files.folder import TaskFolder
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

KEY = "sk-ant-api03-0123456789abcdef0123456789abcdef"
CHILD = """
    import json, pathlib, sys
    folder = pathlib.Path(sys.argv[-1])
    (folder / "report.md").write_text("lost")
    (folder / "artifacts" / "chart.csv").write_text("stored")
    (folder / "logs" / "summary.log").write_text("task      a\\n")
    (folder / "outcome.json").write_text(json.dumps({"status": "completed", "output": 1}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[TaskFolder]:
    for name in ("artifacts", "logs", "traces", "tmp", "home"):
        (tmp_path / name).mkdir()
    opened = TaskFolder.opened(tmp_path)
    yield opened
    opened.close()


def found_in(folder: TaskFolder) -> LeftBehind:
    return left_behind(folder, Redaction(KEY), monotonic=time.monotonic)


def test_files_in_the_folders_that_a_task_is_given_are_not_listed(folder: TaskFolder) -> None:
    for name in ("artifacts/a", "logs/a", "tmp/a", "home/a", "task.json", "outcome.json"):
        (folder.path / name).write_text("x")

    assert str(found_in(folder)) == ""


def test_other_files_are_listed_with_their_sizes(folder: TaskFolder) -> None:
    (folder.path / "report.md").write_text("lost")
    (folder.path / "src" / "deep").mkdir(parents=True)
    (folder.path / "src" / "deep" / "main.py").write_text("")

    expected = (
        "not stored: 2 files outside artifacts/: report.md (4 bytes), src/deep/main.py (0 bytes)"
    )
    assert str(found_in(folder)) == expected


def test_names_cannot_forge_lines_hide_text_or_be_long(folder: TaskFolder) -> None:
    for name in (b"a\ncost 0 USD", b"b\x1b[2J", "c\u202etxt".encode(), b"d\xff", b"e" * 250):
        Path(os.fsdecode(os.fsencode(folder.path) + b"/" + name)).touch()
    (folder.path / KEY).touch()

    found = found_in(folder)

    line = str(found)
    assert found.count == 6
    assert line.isprintable()
    assert KEY not in line
    assert all(len(each) <= MAX_NAME_CHARACTERS + len(" (0 bytes)") for each in found.listed)


def test_links_lead_nowhere(folder: TaskFolder) -> None:
    (folder.path / "link").symlink_to("/etc")
    (folder.path / "file").symlink_to("/etc/passwd")

    assert found_in(folder).count == 0


def test_many_files_are_counted_and_listed_within_bounds(folder: TaskFolder) -> None:
    (folder.path / "many").mkdir()
    for number in range(MAX_LOOKED_AT + 10):
        (folder.path / "many" / f"{number:05}").touch()

    found = found_in(folder)

    assert len(found.listed) == MAX_LISTED
    assert found.at_least
    assert found.count <= MAX_LOOKED_AT
    assert str(found).startswith("not stored: at least ")


def test_a_summary_names_what_is_not_stored(
    harness: WorkerHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_children_run(CHILD, tmp_path, monkeypatch)
    harness.add_task()

    harness.work(until=harness.quiet)

    assert harness.blob("artifacts/chart.csv") == "stored"
    *_, last = harness.blob("logs/summary.log").splitlines()
    assert last == "not stored: 1 file outside artifacts/: report.md (4 bytes)"
