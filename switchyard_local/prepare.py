"""Finds a Python new enough for Switchyard and hands over to `switchyard_local.setup`.

This file alone must run on every Python from 3.6 on, so that an old one ends in a sentence and
not in a syntax error.
"""

import os
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
NEWER_NAMES = ("python3.13", "python3.12", "python3.11")
NOTHING_SUITABLE = (
    "Switchyard needs Python 3.11 or newer, and {} is Python {}. Install Python 3.13 "
    "(python.org, apt, brew or pyenv) so that `python3.13` is on your PATH, then try again."
)


def main() -> None:
    python = suitable_python()
    if not python:
        version = ".".join(str(part) for part in sys.version_info[:3])
        sys.exit(NOTHING_SUITABLE.format(sys.executable, version))
    os.chdir(str(Path(__file__).resolve().parent.parent))
    os.execv(python, [python, "-m", "switchyard_local.setup", *sys.argv[1:]])  # noqa: S606


def suitable_python() -> str:
    """Return the path of the first suitable interpreter, the running one preferred; else ""."""
    if sys.version_info >= OLDEST:
        return sys.executable
    return next(filter(None, map(executable_of, NEWER_NAMES)), "")


def executable_of(name: str) -> str:
    """Return the real path of `name`; "" if it is missing or, like a pyenv shim, does not start."""
    try:
        answer = subprocess.check_output(
            [name, "-c", "import sys; print(sys.executable)"], stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.decode().strip()


if __name__ == "__main__":
    main()
