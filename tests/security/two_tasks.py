"""`python -m tests.security.two_tasks FOLDER`: two tasks of one worker, and one attacks the other.

It is started through the container's entrypoint, as the worker is. A task's user with a running
process and files is the victim; each attack runs as another task's user, and prints what it got.
The report is JSON: by the name of each attack, its last line.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.users import SlotUser, as_user, hide_memory, slot_users
from switchyard_worker.parent.supervision.process_enders import UserEnder
from tests.builders import a_task

CANARY = "canary-of-a-tenant"
REFUSED = "refused"
VICTIM = """
import time
open("artifacts/secret", "w").write("canary-of-a-tenant")
print("ready", flush=True)
time.sleep(60)
"""
HEAD = """
import ctypes, os, sys
victim, folder, worker = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
def refused(result):
    if result == -1: raise OSError(ctypes.get_errno(), "refused")
try:
    {attack}
except OSError:
    print("refused")
else:
    print("done")
"""
ATTACKS = {
    "read a file of another task": 'open(f"{folder}/artifacts/secret").read()',
    "list the folder of another task": "os.listdir(folder)",
    "write to the folder of another task": 'open(f"{folder}/planted", "w")',
    "replace the folder of another task": 'os.rename(folder, folder + "x")',
    "make a folder beside that of another task": 'os.mkdir(f"{os.path.dirname(folder)}/9")',
    "list the requests that the worker runs": "os.listdir(os.path.dirname(folder))",
    "open the folder to all": "os.chmod(folder, 0o777)",
    "read the environment of another task": 'open(f"/proc/{victim}/environ").read()',
    "read the memory of another task": 'open(f"/proc/{victim}/mem", "rb")',
    "reach files through another task's root": 'os.listdir(f"/proc/{victim}/root/")',
    "reach files through another task's descriptors": 'os.listdir(f"/proc/{victim}/fd")',
    "reach files through another task's folder": 'os.listdir(f"/proc/{victim}/cwd/")',
    "trace another task": "refused(libc.ptrace(16, victim, 0, 0))",
    "seize another task": "refused(libc.ptrace(0x4206, victim, 0, 0))",
    "stop another task": "os.kill(victim, 19)",
    "kill another task": "os.kill(victim, 9)",
    "slow another task down": "os.setpriority(os.PRIO_PROCESS, victim, 19)",
    "take another task's descriptor": "refused(libc.syscall(438, os.pidfd_open(victim), 1, 0))",
    "become the other user": "os.setuid(os.stat(f'/proc/{victim}').st_uid)",
    "join the other group": "os.setgroups([os.stat(f'/proc/{victim}').st_gid])",
    "read the worker's environment": 'open(f"/proc/{worker}/environ").read()',
    "read the worker's memory": 'open(f"/proc/{worker}/mem", "rb")',
    "trace the worker": "refused(libc.ptrace(16, worker, 0, 0))",
    "kill the worker": "os.kill(worker, 9)",
    "write where the worker keeps its pulse": (
        'open(f"{os.path.dirname(os.path.dirname(folder))}/.pulse", "w")'
    ),
}


def report(output: Path, python: str) -> dict[str, Any]:
    hide_memory()
    first, second, *_ = slot_users(os.environ).values()
    victims, attackers = (
        TaskFolder.fresh(output, Lease(a_task(name, fence=3), "me"), user)
        for name, user in (("victim", first), ("attacker", second))
    )
    environment = {"PATH": os.environ["PATH"], "TOKEN": CANARY}
    with subprocess.Popen(
        as_user([python, "-c", VICTIM], first, folder=victims.path),
        env=environment,
        stdout=subprocess.PIPE,
    ) as victim:
        assert victim.stdout is not None
        victim.stdout.readline()
        found: dict[str, Any] = {
            name: _attacked(python, attack, victim.pid, victims, attackers)
            for name, attack in ATTACKS.items()
        }
        found["the victim lives"] = victim.poll() is None
        found["the worker reads the result"] = victims.read("artifacts/secret", max_bytes=99) == (
            CANARY.encode()
        )
        found.update(_ended(victims, attackers, victim, python))
    return found


def _attacked(
    python: str, attack: str, victim: int, victims: TaskFolder, attackers: TaskFolder
) -> str:
    program = HEAD.replace("{attack}", attack)
    arguments = [str(victim), str(victims.path), str(os.getpid())]
    ended = subprocess.run(
        as_user([python, "-c", program, *arguments], attackers.user, folder=attackers.path),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return (ended.stdout.split() or [ended.stderr[-300:]])[-1]


def _ended(
    victims: TaskFolder, attackers: TaskFolder, victim: subprocess.Popen[bytes], python: str
) -> dict[str, bool]:
    """End the attacker's processes: all of them, and none of the victim's."""
    assert attackers.user is not None
    hidden = subprocess.Popen(
        as_user([python, "-c", HIDDEN], attackers.user, folder=attackers.path),
        stdout=subprocess.PIPE,
        text=True,
    )
    with hidden:
        assert hidden.stdout is not None
        hidden.stdout.readline()
        ended = asyncio.run(_end(attackers.user))
        hidden.wait(timeout=10)
    time.sleep(0.2)
    found = {
        "all processes of a user are ended": ended and not _living(attackers.user.id),
        "shared memory of a user is removed": not _shared_memory(attackers.user.id),
        "no other user's processes are ended": victim.poll() is None,
    }
    victim.kill()
    for folder in (attackers, victims):
        folder.remove(seconds=30, monotonic=time.monotonic)
    left = [path for path in Path("/dev/shm").iterdir() if path.lstat().st_uid == attackers.user.id]
    return found | {"files elsewhere are removed": not left}


async def _end(user: SlotUser) -> bool:
    ender = UserEnder(os.environ)
    try:
        return await ender.end(user)
    finally:
        await ender.close()


HIDDEN = """
import ctypes, os, pathlib, time
libc = ctypes.CDLL(None)
libc.shmget(0, 4096, 0o600 | 0o1000)
pathlib.Path(f"/dev/shm/left-{os.getuid()}/a").mkdir(parents=True, mode=0)
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
print("ready", flush=True)
time.sleep(60)
"""


def _living(user: int) -> bool:
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except (OSError, ValueError):
            continue
        if str(user) in lines["Uid"].split() and "zombie" not in lines["State"]:
            return True
    return False


def _shared_memory(user: int) -> bool:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return any(int(line.split()[7]) == user for line in lines)


if __name__ == "__main__":
    os.umask(0o022)
    sys.stdout.write(json.dumps(report(Path(sys.argv[1]), sys.executable)) + "\n")
