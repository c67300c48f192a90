"""Finds the sources that the local cloud deploys: in the repository, or in the package."""

import os
import shutil
from pathlib import Path
from typing import Final

from switchyard_local.errors import FOLDER_VARIABLE, INSTALLED
from switchyard_local.sources import fingerprint

_PACKAGED: Final = Path(__file__).resolve().parent / "source"
SOURCES: Final = _PACKAGED if INSTALLED else _PACKAGED.parents[1]
"""The sources, only to be read: an installed package may belong to another user."""
EXAMPLES: Final = SOURCES / "examples"
JOB_FILE: Final = "job.yaml"
"""The job of an example that is a folder."""


def default_folder() -> Path:
    """Return where a local cloud has its data: `.switchyard` in the repository, or right here."""
    above = Path.cwd() if INSTALLED else SOURCES
    return Path(os.environ.get(FOLDER_VARIABLE) or above / ".switchyard")


def deployable_sources(folder: Path) -> Path:
    """Return sources that a synthesis may write beside: a copy below `folder`, if installed."""
    return up_to_date_copy(SOURCES, folder / "source") if INSTALLED else SOURCES


def up_to_date_copy(sources: Path, copy: Path) -> Path:
    stamp = copy / ".fingerprint"
    current = fingerprint(sources, ["."])
    if stamp.exists() and stamp.read_text() == current:
        return copy
    unfinished = copy.with_name(f"{copy.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(sources, unfinished, ignore=shutil.ignore_patterns("__pycache__"))
    (unfinished / stamp.name).write_text(current)
    shutil.rmtree(copy, ignore_errors=True)
    unfinished.replace(copy)
    return copy


def example_names() -> list[str]:
    """Return the names of examples: files, and folders with a job and what lies beside it."""
    folders = (file.parent.name for file in EXAMPLES.glob(f"*/{JOB_FILE}"))
    return sorted([*(file.stem for file in EXAMPLES.glob("*.yaml")), *folders])


def example_file(name: str) -> Path:
    """Return the file of an example that there is."""
    in_folder = EXAMPLES / name / JOB_FILE
    return in_folder if in_folder.exists() else EXAMPLES / f"{name}.yaml"
