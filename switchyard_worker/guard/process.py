"""`python -m switchyard_worker.guard.process`: forks a process for each check, with limits of its
own.

It is single-threaded and has everything imported, so a fork costs milliseconds and starts clean: no
check leaves memory, caches or a spent limit to the next. Standard input is a socket: each message
on it is a check's limits and brings the connection that the check is asked on.
"""

import contextlib
import fcntl
import gc
import math
import os
import resource
import signal
import socket
import struct
from typing import Any, Final, NoReturn

from switchyard_worker.guard.examine import (
    Finding,
    Wrong,
    examine_outcome,
    examine_value,
    limit_digits,
    mismatch,
)
from switchyard_worker.guard.frames import BrokenFrame, receive, send
from switchyard_worker.guard.redaction import Redaction

LIMITS: Final = struct.Struct("!dI")
MEGABYTE: Final = 1024 * 1024
WALL_TIME_FACTOR: Final = 6
"""The most that a check may take, in multiples of its processor time, on a busy machine."""


def main() -> None:
    """Serve until the process that started this one closes the socket."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system forgets forks as they end
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    limit_digits()
    mismatch({}, {"type": "object"})  # imports, and compiles what is compiled once
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=os.dup(0)) as control:
        while _serve_one(control):
            pass
    with contextlib.suppress(ChildProcessError):  # or else forks would be left over
        os.waitpid(-1, 0)


def _serve_one(control: socket.socket) -> bool:
    message, descriptors, _, _ = socket.recv_fds(control, LIMITS.size, 1)
    if len(message) < LIMITS.size or not descriptors:
        return False
    seconds, megabytes = LIMITS.unpack(message)
    try:
        if os.fork() == 0:
            control.close()
            _check(descriptors[0], seconds, megabytes)
    except OSError:
        pass  # no process to be had: the closed connection says so
    finally:
        os.close(descriptors[0])
    return True


def _check(descriptor: int, seconds: float, megabytes: int) -> NoReturn:
    """Answer one question in the fork, or be ended by the system."""
    try:
        _limit(seconds, megabytes)
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            header, body = receive(connection)
            _end_when_left(connection, wanted=True)
            finding = _examined(header, body, megabytes)
            _end_when_left(connection, wanted=False)
            send(connection, finding.header(), finding.output)
    except (BrokenFrame, OSError):
        os._exit(1)
    finally:
        os._exit(0)


def _limit(seconds: float, megabytes: int) -> None:
    """Limit time and memory; only a signal that kills interrupts a regular expression."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of processor time, so that neighbours who
    signal.setitimer(
        signal.ITIMER_REAL, seconds * WALL_TIME_FACTOR
    )  # take it all cannot fail a check
    for kind, most in (
        (resource.RLIMIT_CPU, math.ceil(seconds) + 1),
        (resource.RLIMIT_AS, megabytes * MEGABYTE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _end_when_left(connection: socket.socket, *, wanted: bool) -> None:
    """Let the system end this process when the other side hangs up: SIGIO kills by default."""
    flags = fcntl.fcntl(connection, fcntl.F_GETFL)
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, flags | os.O_ASYNC if wanted else flags & ~os.O_ASYNC)


def _examined(header: dict[str, Any], body: bytes, megabytes: int) -> Finding:
    try:
        if header["kind"] == "outcome":
            return examine_outcome(body, header["schema"], Redaction(*header["secrets"]))
        return examine_value(body, header["schema"])
    except MemoryError:
        message = f"the check needed more than {megabytes} MB"
        return Finding(wrong=Wrong.UNCHECKED, message=message)


if __name__ == "__main__":
    main()
