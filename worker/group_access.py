"""A program, `group_access.py FOLDER`: the agent's user opens its files below to its group.

Started by `worker/reclaiming.py`. It imports nothing of ours, so it starts fast and from anywhere.
"""

import os
import stat
import sys
from pathlib import Path
from typing import Final

FOLDER_BITS: Final = stat.S_IRWXU | stat.S_IRWXG  # its owner has to look inside as well
FILE_BITS: Final = stat.S_IRGRP | stat.S_IWGRP


def open_to_group(top: Path) -> list[OSError]:
    """Ordinary files and folders of this user, through no link; what could not be opened."""
    problems: list[OSError] = []
    try:
        for _, folders, files, parent in os.fwalk(top, onerror=problems.append):
            for name in (*folders, *files):  # folders before they are walked
                problems += _problem_opening(name, parent)
    except OSError as problem:
        problems.append(problem)
    return problems


def _problem_opening(name: str, parent: int) -> list[OSError]:
    try:
        _open(name, parent)
    except OSError as problem:
        return [problem]
    return []


def _open(name: str, parent: int) -> None:
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    bits = _bits_for(status.st_mode)
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid == os.geteuid() and mode | bits != mode:
        # A link that took its place meanwhile leads to nothing that this user could not do itself.
        os.chmod(name, mode | bits, dir_fd=parent)


def _bits_for(mode: int) -> int:
    if stat.S_ISDIR(mode):
        return FOLDER_BITS
    return FILE_BITS if stat.S_ISREG(mode) else 0


def main(top: Path) -> int:
    problems = open_to_group(top)
    if problems:  # without the names, which the agent chose
        sys.stderr.write(f"{len(problems)} stay closed, the first for: {problems[0].strerror}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
