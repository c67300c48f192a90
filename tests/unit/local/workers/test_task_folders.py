"""Old task folders are removed; those in use and the newest ones stay."""

import os
import subprocess
import sys
from pathlib import Path

from switchyard_local.workers.task_folders import remove_old_task_folders


def a_folder(output: Path, name: str, *, at: int) -> Path:
    folder = output / name / "1"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")
    os.utime(folder.parent, (at, at))
    return folder


def test_only_the_newest_folders_stay(tmp_path: Path) -> None:
    for at in range(5):
        a_folder(tmp_path, f"task-{at}", at=at)
    assert remove_old_task_folders(tmp_path, keep=2) == 3
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["task-3", "task-4"]


def test_a_folder_that_a_process_works_in_stays(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, "running", at=0)
    a_folder(tmp_path, "later", at=1)
    waiting = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waiting, cwd=folder, stdin=subprocess.PIPE) as process:
        try:
            assert remove_old_task_folders(tmp_path, keep=0) == 1
        finally:
            process.kill()
    assert folder.exists()


def test_a_file_and_hidden_folders_of_the_worker_stay(tmp_path: Path) -> None:
    (tmp_path / ".moved").mkdir()
    (tmp_path / "lock").write_text("")
    assert remove_old_task_folders(tmp_path, keep=0) == 0
    assert len(list(tmp_path.iterdir())) == 2


def test_without_an_output_folder_there_is_nothing_to_remove(tmp_path: Path) -> None:
    assert remove_old_task_folders(tmp_path / "missing") == 0
