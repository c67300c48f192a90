"""Records what the workers of a scenario do, line by line, in files that outlive killed workers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchyard.ports import Clock


@dataclass(frozen=True, slots=True)
class Entry:
    at_ms: int
    worker: str
    act: str
    """The act: `received`, `claimed`, `refused`, `effect`, …: `docs/scenarios.md` lists them."""
    message: str
    """The id that its producer gave it; else SQS's own."""
    fence: int
    """The fence of the lease that the act was done under; 0 without one."""
    facts: dict[str, Any]


class Journal:
    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    def note(self, act: str, message: str, *, fence: int = 0, **facts: Any) -> None:
        """Write an entry at once, as one line, whatever else writes to the file."""
        said = {"at_ms": self._clock.now_ms(), "act": act, "message": message, "fence": fence}
        with self._file.open("a") as file:
            file.write(f"{json.dumps(said | {'facts': facts})}\n")


def entries_of(worker: str, file: Path) -> Iterator[Entry]:
    """A line that is being written is not read yet."""
    written = file.read_text() if file.exists() else ""
    for line in written.splitlines(keepends=True):
        if line.endswith("\n"):
            yield Entry(worker=worker, **json.loads(line))
