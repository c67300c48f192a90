"""Saves of MiniStack's state: each complete in a folder of its own, the last one named in a file.

A save becomes the last one by the replacement of that file, so a process that is killed while it
saves leaves the save before intact.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from switchyard_local.emulator.loopback import LOOPBACK
from switchyard_local.private_file import read_private, write_private

SAVE_PATH: Final = "/_switchyard/save"
"""A POST of it saves at once."""
SAVES_FOLDER: Final = "SWITCHYARD_SAVES"
TASK_FOLDERS: Final = "SWITCHYARD_TASK_FOLDERS"
"""The environment variables that name the folders of saves and of tasks to the server."""
SAVES_TO_KEEP: Final = 2
USERS_DATA: Final = frozenset({"dynamodb", "s3"})
"""The services whose saves hold what users wrote, and no address of the cloud itself."""


@dataclass(frozen=True)
class Save:
    number: int
    port: int
    """The saved addresses of queues and APIs contain it."""
    saved_at_ms: int
    final: bool
    """Whether nothing happened after it: MiniStack was stopped in order."""


class Saves:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last = folder / "last.json"

    def last(self) -> Save | None:
        try:
            return Save(**read_private(self._last))
        except TypeError:
            return None

    def write(
        self,
        states: Mapping[str, object],
        *,
        dump: Callable[[str, object], str],
        port: int,
        now_ms: int,
        final: bool,
    ) -> None:
        """Write a state for each service; `dump` turns one into text."""
        last = self.last()
        number = last.number + 1 if last else 1
        folder = self._folder / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for service, state in states.items():
            (folder / f"{service}.json").write_text(dump(service, state))
        save = Save(number=number, port=port, saved_at_ms=now_ms, final=final)
        write_private(self._last, asdict(save))
        shutil.rmtree(self._folder / str(number - SAVES_TO_KEEP), ignore_errors=True)

    def restore(self, into: Path, *, port: int) -> None:
        """Copy the last save to where MiniStack loads its state from; without one, leave nothing.

        The saved addresses of the cloud get `port`. The save is not final from then on.
        """
        into.mkdir(parents=True, exist_ok=True)
        for outdated in into.glob("*.json"):
            outdated.unlink()
        last = self.last()
        if last is None:
            return
        for file in (self._folder / str(last.number)).glob("*.json"):
            if last.port == port or file.stem in USERS_DATA:
                shutil.copy(file, into / file.name)
            else:
                (into / file.name).write_text(_moved(file.read_text(), last.port, port))
        write_private(self._last, asdict(last) | {"final": False})

    def forget(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _moved(state: str, from_port: int, to_port: int) -> str:
    """Return a saved state with the addresses of the cloud on another port."""
    return re.sub(rf"{re.escape(LOOPBACK)}:{from_port}(?!\d)", f"{LOOPBACK}:{to_port}", state)
