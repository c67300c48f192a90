"""A command that runs beside us, logs to a file and never outlives the `with` it is used in."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from switchyard_local.errors import failure_with_log
from switchyard_local.interrupts import held_back
from switchyard_local.processes.process import identified, kill_family
from switchyard_local.processes.roster import Roster

TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True)
class Command:
    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def finish(self) -> None:
        try:
            code = self.process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            message = f"{self.name} did not end within {TIMEOUT_SECONDS:.0f} s."
            raise failure_with_log(message, self.log) from None
        if code != 0:
            raise failure_with_log(f"{self.name} failed.", self.log)


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    log: Path,
    roster: Roster,
) -> Iterator[Command]:
    process: subprocess.Popen[bytes] | None = None
    try:
        with held_back():
            process = _start(command, cwd, environment, log)
            roster.enter(name, identified(process.pid))
        yield Command(name, process, log)
    finally:
        if process is not None and process.poll() is None:
            kill_family(psutil.Process(process.pid))
            process.wait()
        roster.remove(name)


def _start(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    with log.open("w") as output:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is ours to handle: we end it above
        )
