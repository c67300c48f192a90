"""Synthesized stacks, reused as long as their sources stay the same."""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Final

from switchyard_local.home import Home

SHARED_VARIABLE: Final = "SWITCHYARD_ASSEMBLIES"
"""This variable names a folder in which local clouds share their assemblies."""
_STAMP: Final = ".sources"


class Assembly:
    def __init__(self, home: Home, sources: str) -> None:
        self._own = home.assembly
        self._sources = sources
        shared = os.environ.get(SHARED_VARIABLE)
        self._shared = Path(shared, sources) if shared else None

    @property
    def folder(self) -> Path | None:
        """Return the folder of these sources' stacks; `None` if they have to be synthesized."""
        for place in (self._own, self._shared):
            if place and _read_stamp(place) == self._stamp(place):
                return place
        return None

    def begin(self) -> Path:
        """Return where to synthesize; what is there belongs to no sources until `finish`."""
        (self._own / _STAMP).unlink(missing_ok=True)
        return self._own

    def finish(self) -> Path:
        (self._own / _STAMP).write_text(self._stamp(self._own))
        if self._shared:
            self._shared.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):  # another cloud was faster, or it is another disk
                return self._own.rename(self._shared)
        return self._own

    def _stamp(self, assembly: Path) -> str:
        """Return what stands for the sources and for what is there: an older version, which knows
        no stamps, may have synthesized its own stacks into the same folder."""
        digest = hashlib.sha256(self._sources.encode())
        for file in sorted(assembly.glob("*.json")):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()


def _read_stamp(assembly: Path) -> str | None:
    try:
        return (assembly / _STAMP).read_text()
    except OSError:
        return None
