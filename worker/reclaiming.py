"""Gets back for the worker what the agent's user kept to itself, which nobody else can open."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from switchyard.observability import get_logger
from worker import group_access
from worker.privileges import AGENT_USER, as_agent_user

logger = get_logger("worker")

MAX_SECONDS: Final = 10.0
MAX_ERROR_CHARACTERS: Final = 500


def reclaim(folder: Path, host: Mapping[str, str], *, max_seconds: float = MAX_SECONDS) -> None:
    """Let the group read, change and remove all that is below; what it cannot is only logged.

    Where children are the worker's own there is nothing to do.
    """
    if not host.get(AGENT_USER):
        return
    try:
        problem = _opened_by_the_agent(folder, host, max_seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        fields = {"folder": str(folder), "error": problem[-MAX_ERROR_CHARACTERS:]}
        logger.warning("files may stay closed to the worker", extra=fields)


def _opened_by_the_agent(folder: Path, host: Mapping[str, str], max_seconds: float) -> str | None:
    """What it says went wrong. Raise `OSError` and `TimeoutExpired`."""
    program = [sys.executable, "-I", "-S", group_access.__file__, str(folder)]
    ended = subprocess.run(
        as_agent_user(program, host),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"PATH": host.get("PATH", os.defpath)},
        process_group=0,  # a signal for the worker's group is not meant for it
        timeout=max_seconds,
        check=False,
        text=True,
        errors="replace",
    )
    return (ended.stderr or f"exit code {ended.returncode}") if ended.returncode else None
