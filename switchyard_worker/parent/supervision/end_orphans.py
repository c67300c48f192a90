"""A program, `end_orphans.py MARK USERS`: wait until the worker is gone, then end its children.

Started by `process_enders.py`, in a session of its own. Its standard input is a pipe whose other
end the worker alone holds, so the system closes it however the worker ends, a SIGKILL included.
Processes of a task carry the mark in their environment, or belong to one of the users.
It imports nothing of ours, so it starts fast and stays small.
"""

import contextlib
import os
import signal
import sys
import time  # noqa: TID251 - a program of its own, without ports
from collections.abc import Collection
from pathlib import Path

LOWEST_USER = 2_000
MAX_SECONDS = 30.0
PAUSE_SECONDS = 0.05
PASSES_WITHOUT_ANY = 3  # a process may fork while it is looked for


def main(mark: str, users: Collection[int]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the worker, which may still finish
    while os.read(0, 1):
        pass
    ends_at, empty = time.monotonic() + MAX_SECONDS, 0
    while empty < PASSES_WITHOUT_ANY and time.monotonic() < ends_at:
        found = left_behind(mark.encode(), users)
        empty = 0 if found else empty + 1
        for number in (signal.SIGSTOP, signal.SIGKILL):  # what is stopped cannot fork
            for pid in found:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        time.sleep(PAUSE_SECONDS)


def left_behind(mark: bytes, users: Collection[int]) -> list[int]:
    names = [entry.name for entry in Path("/proc").iterdir()]
    pids = [int(name) for name in names if name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and _is_of_a_task(pid, mark, users)]


def _is_of_a_task(pid: int, mark: bytes, users: Collection[int]) -> bool:
    try:
        if users:
            return Path(f"/proc/{pid}").stat().st_uid in users or _real_user(pid) in users
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # gone already, or another user's
        return False


def _real_user(pid: int) -> int:
    """Read the user from the status: root owns the folder of a process that hides its memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("Uid:"))
    return int(line.split()[1])


if __name__ == "__main__":
    first, _, last = sys.argv[2].partition("-")
    theirs = range(int(first), int(last) + 1) if last else range(0)
    if theirs and theirs[0] < LOWEST_USER:
        sys.exit(f"users below {LOWEST_USER} are the system's")
    main(sys.argv[1], theirs)
