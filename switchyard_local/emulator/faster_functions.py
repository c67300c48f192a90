"""Lets MiniStack start the processes of functions sooner.

By itself it unpacks a function's code and layers anew for each process, where Python finds no
bytecode: each process compiles all modules of Switchyard again, which takes as long as to run them.
Where `os.fork` is safe, a process does not even run them: see `forked_functions`.
"""

import hashlib
import subprocess
import sys
import tempfile
import threading  # noqa: TID251 - MiniStack starts functions in threads of its own
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from ministack.core import lambda_runtime

from switchyard_local.emulator.forked_functions import Functions

UNPACKED: Final = "ministack-unpacked"
"""The folder, beside those that MiniStack makes for processes, of what was unpacked."""

_unpacking: Final = threading.Lock()


def speed_up_functions() -> None:
    """Let all processes of the same code share its bytecode, and of the same layers its imports."""
    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": SharedArchive})
    if sys.platform == "linux":  # libraries of macOS do not survive a fork
        start = Functions().start
        lambda_runtime.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": start})


class SharedArchive(zipfile.ZipFile):
    """An archive that is unpacked once, however often it is asked for.

    Functions cannot write to their code and layers on AWS, and ours do not here.
    """

    def extractall(self, path: Any = None, members: Any = None, pwd: Any = None) -> None:
        """Make `path`, an empty folder, a link to the one folder with the content."""
        if path is None or members is not None or not self.filename:
            super().extractall(path, members, pwd)
            return
        shared = self._unpacked(Path(self.filename))
        Path(path).rmdir()
        Path(path).symlink_to(shared)

    def _unpacked(self, archive: Path) -> Path:
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        folder = Path(tempfile.gettempdir(), UNPACKED)
        with _unpacking:
            if not (folder / digest).exists():
                folder.mkdir(exist_ok=True)
                partial = tempfile.mkdtemp(dir=folder)
                super().extractall(partial)
                Path(partial).rename(folder / digest)
        return folder / digest
