"""A program, `end_user.py UNUSED`: kill all processes of users, and remove their shared memory.

Started by `process_enders.py`, which writes a line with each user and reads one with the answer.
The system kills all processes of a user in one step, in which none can fork. The program's real
user is one that no other process has, and its effective one the user whose processes end: they can
neither signal nor trace it. It imports nothing of ours, so it starts fast.
"""

import os
import signal
import sys
from pathlib import Path

DONE = "done"
LOWEST = 2_000
CAP_KILL = 5
SYSTEM_V = {"shm": "shmctl", "msg": "msgctl", "sem": "semctl"}
NAMES = {"shm": "shared memory", "msg": "message queue", "sem": "semaphores"}
IPC_RMID = 0


def main(unused: int) -> None:
    os.setresuid(unused, unused, unused)
    for line in sys.stdin:
        try:
            found = end(int(line), unused)
        except (OSError, ValueError) as problem:
            answer = f"failed: {problem}"
        else:
            answer = f"{DONE} {', '.join(found)}"
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def end(user: int, unused: int) -> list[str]:
    """Return what there was to end. Raise `OSError`, or `ValueError` where that is not safe."""
    os.setresuid(unused, user, unused)
    try:
        if user < LOWEST or os.getresuid() != (unused, user, unused) or _may_kill_anything():
            raise ValueError(f"this process is not user {user} alone")
        return [*_kill_all(), *_remove_shared(user)]
    finally:
        os.setresuid(unused, unused, unused)


def _kill_all() -> list[str]:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:  # there is none
        return []
    return ["processes"]


def _remove_shared(user: int) -> list[str]:
    found = []
    for kind, function in SYSTEM_V.items():
        for number in _objects_of(user, kind):
            _remove(function, number)
            found.append(NAMES[kind])
    return found


def _may_kill_anything() -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    (effective,) = (line.split()[1] for line in lines if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> CAP_KILL & 1)


def _objects_of(user: int, kind: str) -> list[int]:
    try:
        heading, *lines = Path("/proc/sysvipc", kind).read_text().splitlines()
    except (OSError, ValueError):
        return []
    names = heading.split()
    number, owner = names.index(f"{kind}id" if kind != "msg" else "msqid"), names.index("uid")
    rows = [line.split() for line in lines]
    return [int(row[number]) for row in rows if int(row[owner]) == user]


def _remove(function: str, number: int) -> None:
    import ctypes  # noqa: PLC0415 - seldom needed, and slow to import

    call = getattr(ctypes.CDLL(None), function)
    call(number, *((0,) if function == "semctl" else ()), IPC_RMID, None)


if __name__ == "__main__":
    main(int(sys.argv[1]))
