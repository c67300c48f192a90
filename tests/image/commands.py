"""Commands of the build, whose last lines explain why one failed."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import psutil

from switchyard_local.interrupts import held_back
from switchyard_local.processes.process import kill_family

SHOWN_LINES: Final = 15


class CommandFailed(Exception):
    """The message ends with the last lines of the command's output."""


def output_of(
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a command to its end; interrupted, it takes along what it started.

    Raise `CommandFailed`.
    """
    process: subprocess.Popen[str] | None = None
    try:
        with held_back():
            process = _started(command, folder, environment)
        stdout, stderr = process.communicate()
    except BaseException:
        if process is not None:
            kill_family(psutil.Process(process.pid))
            process.communicate()
        raise
    if process.returncode != 0:
        lines = f"{stdout}{stderr}".strip().splitlines()
        raise CommandFailed("\n".join([f"{command[0]} failed:", *lines[-SHOWN_LINES:]]))
    return stdout.strip()


def _started(
    command: Sequence[str | Path], folder: Path | None, environment: Mapping[str, str] | None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
