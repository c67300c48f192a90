"""Whose processes the children are: the agent's user, with no capability and no way to gain one.

In the container the entrypoint gives the worker the capabilities to change users and to end another
user's processes, and `AGENT_USER` says which user that is. Elsewhere children are the worker's own.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

AGENT_USER: Final = "AGENT_USER"
_USER_AND_GROUP: Final = re.compile(r"(\d+):(\d+)")
_NEEDED: Final = {"KILL": 5, "SETGID": 6, "SETUID": 7}  # <linux/capability.h>
_EFFECTIVE: Final = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)


class NotAllowed(ValueError):
    """Children would not run as the user they have to."""


def as_agent_user(command: Sequence[str], host: Mapping[str, str]) -> list[str]:
    """How to start `command`. Raise `NotAllowed` if the user is not told as `uid:gid`.

    Capabilities outlive a change from one ordinary user to another, so they are dropped by name.
    """
    if not host.get(AGENT_USER):
        return list(command)
    user, group = _agent_user(host)
    return [
        "setpriv",
        f"--reuid={user}",
        f"--regid={group}",
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--no-new-privs",
        "--",
        *command,
    ]


def check_agent_user(host: Mapping[str, str], *, capabilities: int) -> None:
    """Raise `NotAllowed` rather than fail task after task."""
    if not host.get(AGENT_USER):
        return
    _agent_user(host)
    missing = [name for name, bit in _NEEDED.items() if not capabilities >> bit & 1]
    if missing:
        raise NotAllowed(
            f"{AGENT_USER} is {host[AGENT_USER]!r}, but the worker lacks the capabilities "
            f"{', '.join(missing)} that its entrypoint gives it"
        )


def effective_capabilities(status: Path = Path("/proc/self/status")) -> int:
    """None where there is no such file."""
    try:
        told = _EFFECTIVE.search(status.read_text())
    except FileNotFoundError:
        return 0
    return int(told[1], 16) if told else 0


def _agent_user(host: Mapping[str, str]) -> tuple[str, str]:
    told = _USER_AND_GROUP.fullmatch(host[AGENT_USER])
    if not told:
        raise NotAllowed(f"{AGENT_USER} is {host[AGENT_USER]!r}: it has the form 1002:1000")
    return told[1], told[2]
