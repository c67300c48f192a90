"""A container that runc runs, from its start to the last of its processes."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from switchyard_local.interrupts import held_back
from tests.e2e.patience import eventually

STOP_SECONDS = 130.0  # what Fargate gives a worker, and a little more
COMMAND_SECONDS = 60.0


@dataclass(frozen=True)
class Container:
    name: str
    state: Path
    """Where runc remembers its containers."""
    log: Path
    process: subprocess.Popen[bytes]

    def has_started_or_ended(self) -> bool | None:
        """Return None as long as it has done neither."""
        if self.process.poll() is not None:
            return True
        state = self._runc("state", self.name)
        started = state.returncode == 0 and json.loads(state.stdout)["status"] == "running"
        return started or None

    def first_process(self) -> psutil.Process:
        """Return the process that is PID 1 inside."""
        found = json.loads(self._runc("state", self.name).stdout)
        return psutil.Process(found["pid"])

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command inside, as root with the container's capabilities; `ECS Exec` does so."""
        return self._runc("exec", self.name, *command)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to PID 1."""
        self._runc("kill", self.name, number.name).check_returncode()

    def exit_code(self, *, seconds: float = STOP_SECONDS) -> int:
        """Wait for its end. Raise `TimeoutExpired`."""
        return self.process.wait(seconds)

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def remove(self) -> None:
        """End it in any state that it may be in."""
        self._runc("delete", "--force", self.name)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _runc(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["runc", "--root", self.state, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )


@contextmanager
def running(name: str, spec: Mapping[str, Any], folder: Path) -> Iterator[Container]:
    """Start a container; it is gone after the block. `folder` is made for its files."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(spec))
    state, log = folder / "runc", folder / "output.log"
    container: Container | None = None
    try:
        with held_back():
            container = Container(name, state, log, _started(name, folder, state, log))
        eventually(container.has_started_or_ended, "runc starts no container")
        yield container
    finally:
        if container is not None:
            container.remove()


def _started(name: str, bundle: Path, state: Path, log: Path) -> subprocess.Popen[bytes]:
    with log.open("w") as output:
        return subprocess.Popen(
            ["runc", "--root", state, "run", "--bundle", bundle, name],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the check, which removes the container
        )
