"""A task's child that runs the program that its input names, in place of an agent.

It is started as `python -P -m switchyard_worker.child FOLDER` is, by the same user and in the same
environment, and limits itself as that does. A task without a program gets the real child. Programs
use the names that are defined here: `answer`, `loot`, `refused`, `succeeded`, `libc_call`,
`end_this_thread` and the facts.
"""

import ctypes
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from switchyard_worker.child.limits import limit_resources

folder = Path(sys.argv[-1])
task = json.loads((folder / "task.json").read_text())
given = task["input"] if isinstance(task["input"], dict) else {}
libc = ctypes.CDLL(None, use_errno=True)


class Happened(Exception):
    """What came of an attack."""


def refused(why: str) -> NoReturn:
    raise Happened(f"refused: {why}")


def succeeded(how: str = "it could") -> NoReturn:
    raise Happened(f"SUCCEEDED: {how}")


def answer(text: str = '{"status": "completed", "output": 1}') -> None:
    (folder / "outcome.json").write_text(text)


def loot(data: bytes | str) -> None:
    """Save something outside the task's folder, where nothing is redacted."""
    name = f"{given['program']}-{os.getpid()}-{time.monotonic_ns()}"
    mask = os.umask(0o022)  # the worker searches it
    try:
        Path(given["found"], name).write_bytes(data.encode() if isinstance(data, str) else data)
    finally:
        os.umask(mask)


def libc_call(result: int) -> int:
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def end_this_thread() -> None:
    """End only the calling thread: the C library has no function for that, the system has."""
    libc.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)


def run(path: Path) -> str:
    names: dict[str, Any] = {**globals(), "happened": "done", **given.get("facts", {})}
    try:
        exec(compile(path.read_text(), str(path), "exec"), names)
    except Happened as happened:
        return str(happened)
    except MemoryError:
        return "refused: out of memory"
    except OSError as error:
        return f"refused: {error.strerror}"
    return str(names["happened"])


def main() -> None:
    if "program" not in given:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    limit_resources(
        memory_mb=task["memory_mb"], file_mb=task["file_mb"], processes=task["max_processes"]
    )
    leader = os.getpid()
    happened = run(Path(given["programs"], f"{given['program']}.py"))
    if os.getpid() != leader:
        os._exit(0)
    print(f"attack {given['program']}: {happened}", flush=True)  # noqa: T201 - what a child prints
    if not os.path.lexists(folder / "outcome.json"):
        answer(json.dumps({"status": "completed", "output": {"happened": happened}}))
    loot(happened)


__all__ = ["signal", "socket"]

if __name__ == "__main__":
    main()
