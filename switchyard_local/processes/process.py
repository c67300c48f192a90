"""Starting and stopping processes that outlive the command that started them."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from switchyard_local.processes.started import CLOCK_STEP_SECONDS, StartedProcess

TASK = "switchyard_worker.child"  # the module that runs each task, below its worker
LOOK_SECONDS = 0.1


def start_detached(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    log: Path,
    signature: str = "",
) -> StartedProcess:
    """Start `command` as the leader of its own session, so that Ctrl-C does not reach it."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process.returncode = 0  # it may outlive us: without this Popen warns that it still runs
    return identified(process.pid, signature)


def identified(pid: int, signature: str = "") -> StartedProcess:
    return StartedProcess(pid, psutil.Process(pid).create_time(), signature)


def find(started: StartedProcess | None) -> psutil.Process | None:
    """The process if it still runs; None if it ended, even if its id is in use again."""
    if started is None:
        return None
    try:
        process = psutil.Process(started.pid)
        same = abs(process.create_time() - started.created) < CLOCK_STEP_SECONDS
        return process if same and _runs(process) else None
    except psutil.NoSuchProcess:
        return None


def has_child(process: psutil.Process | None, argument: str) -> bool:
    """Return whether a process that it started with that argument still runs."""
    return process is not None and count_children(process, argument) > 0


def count_children(process: psutil.Process, argument: str) -> int:
    """Return how many processes that it started with that argument still run."""
    with suppress(psutil.NoSuchProcess):
        return sum(argument in _command_of(child) for child in process.children())
    return 0


def _command_of(process: psutil.Process) -> list[str]:
    """Return nothing for one that has ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def stop(started: StartedProcess, *, grace_seconds: float) -> bool:
    """Ask it to end, then make it; True if it ended by itself in time."""
    process = find(started)
    try:
        return process is not None and ends_in_time(process, grace_seconds)
    finally:
        if process is not None:
            kill_family(process)
        kill_session(started)


def ask_to_end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()


def ends_in_time(process: psutil.Process, grace_seconds: float) -> bool:
    ask_to_end([process])
    return wait_until_ended([process], timeout_seconds=grace_seconds)


def wait_until_ended(processes: Sequence[psutil.Process], *, timeout_seconds: float) -> bool:
    """Return whether all of them ended in time.

    A zombie has ended: in a container without an init, nobody collects what its parent left.
    """
    left = list(processes)
    for _ in range(1 + math.ceil(timeout_seconds / LOOK_SECONDS)):
        _, waited_for = psutil.wait_procs(left, timeout=LOOK_SECONDS)
        left = [process for process in waited_for if _runs(process)]
        if not left:
            return True
    return False


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def kill_family(process: psutil.Process) -> None:
    """Kill what did not end, with its descendants, which may lead sessions of their own."""
    with suppress(psutil.NoSuchProcess):
        family = [*process.children(recursive=True), process]
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.kill()
        wait_until_ended(family, timeout_seconds=5)


def kill_session(started: StartedProcess) -> None:
    """Kill what the process left behind in its group, unless its id belongs to another by now."""
    with suppress(psutil.NoSuchProcess):
        if abs(psutil.Process(started.pid).create_time() - started.created) > CLOCK_STEP_SECONDS:
            return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)


def kill_strays(folder: Path) -> None:
    """Kill what a killed process left running below `folder`.

    Only our Python without a terminal: a user may have a shell or an editor open there.
    """
    python = os.path.realpath(sys.executable)
    for process in psutil.process_iter(["cwd", "exe", "terminal"]):
        facts = process.info
        ours = facts["exe"] == python and facts["terminal"] is None
        if ours and facts["cwd"] and Path(facts["cwd"]).is_relative_to(folder):
            kill_family(process)
