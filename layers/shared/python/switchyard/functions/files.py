"""Finds the files that a task is given; a plain call finds those below the current folder."""

from pathlib import Path
from typing import Final

from switchyard.functions.errors import FunctionsError

INPUTS: Final = "inputs"


def input_files(pattern: str = "**/*") -> list[Path]:
    """Return the files that the task is given, in the order of their names; they are read-only.

    The pattern is a path below the folder `inputs` and may have `*`, `?` and `**`, as in
    `draft/*.md` for artifacts of the task `draft`, or `job/*` for files of the job.
    """
    folder = Path(INPUTS).absolute()
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def input_file(pattern: str) -> Path:
    """Return the one file that the task is given by this pattern. Raise `FunctionsError`."""
    found = input_files(pattern) or input_files(f"{pattern}.*")
    if len(found) != 1:
        raise FunctionsError(f"{len(found)} files match {pattern!r} in {INPUTS}, not one")
    return found[0]
