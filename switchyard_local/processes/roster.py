"""Records the processes of the local cloud in a file from the moment they run."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

from switchyard_local.private_file import read_private, write_private
from switchyard_local.processes.started import StartedProcess

MINISTACK: Final = "ministack"
"""The role of the emulator; workers have roles of their own."""


class Roster:
    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, role: str) -> StartedProcess | None:
        try:
            return StartedProcess(**read_private(self._file)[role])
        except (KeyError, TypeError):
            return None

    def roles(self) -> list[str]:
        return list(read_private(self._file))

    def enter(self, role: str, started: StartedProcess) -> None:
        write_private(self._file, {**read_private(self._file), role: asdict(started)})

    def end(self, role: str, *, grace_seconds: float) -> bool:
        """End the process; return whether there was one and it ended by itself in time."""
        from switchyard_local.processes.process import stop  # noqa: PLC0415 - it imports psutil

        started = self.get(role)
        try:
            return started is not None and stop(started, grace_seconds=grace_seconds)
        finally:
            self.remove(role)

    def remove(self, role: str) -> None:
        others = {name: entry for name, entry in read_private(self._file).items() if name != role}
        if others:
            write_private(self._file, others)
        else:
            self._file.unlink(missing_ok=True)
