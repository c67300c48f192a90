"""What the kernel says about a process in a container."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

CAPABILITIES: Final = {"KILL": 5, "SETGID": 6, "SETUID": 7}  # <linux/capability.h>
NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True)
class Privileges:
    user: int
    group: int
    no_new_privileges: bool
    capabilities: dict[str, frozenset[str]]
    """By the kernel's name of the set, such as CapEff."""


def privileges_of(pid: int) -> Privileges:
    return privileges_in(Path(f"/proc/{pid}/status").read_text())


def privileges_in(status: str) -> Privileges:
    """Read a text such as `/proc/self/status`."""
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return Privileges(
        user=int(lines["Uid"].split()[1]),
        group=int(lines["Gid"].split()[1]),
        no_new_privileges=lines["NoNewPrivs"].strip() == "1",
        capabilities={
            name: _names(int(value, 16)) for name, value in lines.items() if name.startswith("Cap")
        },
    )


def _names(mask: int) -> frozenset[str]:
    known = frozenset(name for name, bit in CAPABILITIES.items() if mask >> bit & 1)
    rest = mask & ~sum(1 << bit for bit in CAPABILITIES.values())
    return known | {hex(rest)} if rest else known
