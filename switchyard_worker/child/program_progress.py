"""Reads how far a program is from a file that it writes to: `0.4 page 12 of 30` on its last line.

The file is a tenant's: never more of it is read than its end, and nothing but an ordinary file.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from switchyard.functions.progress import progress_line

PROGRESS_FILE: Final = "progress.txt"
"""The file in the task's folder for progress; the variable `PROGRESS_FILE` names it."""
MAX_READ_BYTES: Final = 1_000


@dataclass(slots=True)
class ProgressFile:
    path: Path
    report: Callable[[str], None]
    _last: str = ""

    def look(self) -> None:
        """Report the last whole line, if it is another than before."""
        line = _last_line(self.path)
        if line is None or line == self._last:
            return
        self._last = line
        share, _, text = line.strip().partition(" ")
        try:
            self.report(progress_line(float(share), text))
        except ValueError:  # no number: whatever the program means, it is no progress
            return


def _last_line(path: Path) -> str | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        content = os.pread(handle, MAX_READ_BYTES, max(0, status.st_size - MAX_READ_BYTES))
    except OSError:
        return None
    finally:
        os.close(handle)
    *lines, _unfinished = content.decode(errors="replace").split("\n")
    return lines[-1] if lines else None
