"""Whose processes the children are: a user of their own, with no capability and no way to gain one.

In the container the entrypoint gives the worker the capabilities to change users and to end another
user's processes, and `AGENT_USERS` says which users these are. Elsewhere children are the worker's
own.
"""

import ctypes
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from worker.slot_users import AGENT_USERS, NotAllowed, SlotUser, slot_users

PR_SET_DUMPABLE: Final = 4  # <linux/prctl.h>
_NEEDED: Final = {"KILL": 5, "SETGID": 6, "SETUID": 7}  # <linux/capability.h>
_EFFECTIVE: Final = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)


def as_user(command: Sequence[str], user: SlotUser | None, *, folder: Path) -> list[str]:
    """Return how to start `command` as the user, in a folder that may be closed to the worker.

    Capabilities outlive a change from one ordinary user to another, so they are dropped by name.
    """
    if user is None:
        return list(command)
    return [
        "setpriv",
        f"--reuid={user.id}",
        f"--regid={user.id}",
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--no-new-privs",
        "--",
        "env",
        f"--chdir={folder}",
        *command,
    ]


def check_users(
    host: Mapping[str, str], *, capabilities: int, slots: int, deletes_files: bool
) -> None:
    """Raise `NotAllowed` rather than fail task after task."""
    users = slot_users(host)
    if not users:
        return
    missing = [name for name, bit in _NEEDED.items() if not capabilities >> bit & 1]
    if missing:
        raise NotAllowed(
            f"{AGENT_USERS} is {host[AGENT_USERS]!r}, but the worker lacks the capabilities "
            f"{', '.join(missing)} that its entrypoint gives it"
        )
    if len(users) < slots:
        raise NotAllowed(
            f"MAX_CONCURRENT_CLAUDE is {slots}, but {AGENT_USERS} ({host[AGENT_USERS]}) names "
            f"{len(users)} users: each task that runs needs one of its own"
        )
    if not deletes_files:
        raise NotAllowed(
            f"DELETE_FILES_AFTER_UPLOAD is false, but {AGENT_USERS} is set: a later task with the "
            "same user could read what an earlier one left"
        )


def effective_capabilities(status: Path = Path("/proc/self/status")) -> int:
    """Return none where there is no such file."""
    try:
        told = _EFFECTIVE.search(status.read_text())
    except FileNotFoundError:
        return 0
    return int(told[1], 16) if told else 0


def hide_memory() -> None:
    """Close this process's memory and environment to other processes of its own user."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
