"""Removes the folders of old tasks: the local stage does not delete them after the upload."""

import shutil
from pathlib import Path
from typing import Final

import psutil

KEPT_FOLDERS: Final = 200


def remove_old_task_folders(output: Path, *, keep: int = KEPT_FOLDERS) -> int:
    """Remove all but the newest folders, and none that a process works in. Return how many."""
    folders = [entry for entry in _entries(output) if not entry.name.startswith(".")]
    oldest_first = sorted(folders, key=_modified_at)[: max(len(folders) - keep, 0)]
    if not oldest_first:
        return 0
    in_use = _folders_of_processes()
    removed = [one for one in oldest_first if not any(cwd.is_relative_to(one) for cwd in in_use)]
    for folder in removed:
        shutil.rmtree(folder, ignore_errors=True)
    return len(removed)


def _entries(output: Path) -> list[Path]:
    if not output.is_dir():
        return []
    return [entry.resolve() for entry in output.iterdir() if entry.is_dir()]


def _modified_at(folder: Path) -> float:
    """A folder that a worker removes meanwhile counts as the oldest."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _folders_of_processes() -> list[Path]:
    found = (process.info["cwd"] for process in psutil.process_iter(["cwd"]))
    return [Path(folder) for folder in found if folder]
