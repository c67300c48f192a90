"""Writes a picture to a file, whole or not at all, or to standard output."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from switchyard_cli.errors import BadInput

STANDARD_OUTPUT: Final = "-"
MODE: Final = 0o644


def write_picture(picture: str, target: str) -> None:
    """Write to a file, which is replaced if it exists, or to standard output. Raise `BadInput`."""
    if target == STANDARD_OUTPUT:
        sys.stdout.write(picture)
        return
    path = Path(target)
    if path.is_dir():
        raise BadInput(f"--picture {target} is a folder; name a file in it, such as plan.svg.")
    try:
        _replace(path, picture)
    except OSError as problem:
        raise BadInput(f"--picture {target} cannot be written: {problem.strerror}.") from problem


def _replace(path: Path, picture: str) -> None:
    """Write beside the file and rename, so that no reader finds half of a picture."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(picture)
        Path(beside).chmod(MODE)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
