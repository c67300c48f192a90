"""Lists files that a task wrote where nothing is stored from, so that its author can see them.

Their names are an agent's: they are counted and listed within bounds, and escaped.
"""

from dataclasses import dataclass
from typing import Final

from switchyard_worker.boundary import (
    ATTEMPT_FILE,
    INPUT_FILE,
    INPUTS,
    OUTCOME_FILE,
    TASK_FILE,
)
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.files.folder import HOME, TEMPORARY, UPLOADED, TaskFolder
from switchyard_worker.parent.files.trees import Bounds, Clock

MAX_LISTED: Final = 20
MAX_NAME_CHARACTERS: Final = 100
MAX_LOOKED_AT: Final = 2_000
MAX_LOOKING_SECONDS: Final = 2.0

_GIVEN: Final = frozenset(
    {*UPLOADED, TEMPORARY, HOME, INPUTS, TASK_FILE, INPUT_FILE, OUTCOME_FILE, ATTEMPT_FILE}
)


@dataclass(frozen=True, slots=True)
class LeftBehind:
    listed: tuple[str, ...] = ()
    """Names and sizes of the first files, in the order of their names."""
    count: int = 0
    at_least: bool = False
    """Whether there were too many to count."""

    def __str__(self) -> str:
        """Return a line for the summary of the attempt; nothing where no file is left behind."""
        if not self.count:
            return ""
        number = f"{'at least ' if self.at_least else ''}{self.count}"
        files = "file" if self.count == 1 else "files"
        more = ", …" if self.count > len(self.listed) else ""
        names = ", ".join(self.listed)
        return f"not stored: {number} {files} outside artifacts/: {names}{more}"


def left_behind(folder: TaskFolder, redaction: Redaction, *, monotonic: Clock) -> LeftBehind:
    """Find ordinary files outside the folders that a task is given."""
    bounds = Bounds(
        entries=MAX_LOOKED_AT, ends_at=monotonic() + MAX_LOOKING_SECONDS, monotonic=monotonic
    )
    try:
        top = folder.top_entries(bounds)
    except OSError:
        return LeftBehind()
    sizes = {entry.name: entry.status.st_size for entry in top if entry.is_file}
    sizes |= folder.files(
        [entry.name for entry in top if entry.is_folder and entry.name not in _GIVEN], bounds
    ).sizes
    names = sorted(sizes.keys() - _GIVEN)
    listed = tuple(
        f"{_shown(name, redaction)} ({sizes[name]} bytes)" for name in names[:MAX_LISTED]
    )
    return LeftBehind(listed, len(names), at_least=bounds.exceeded is not None)


def _shown(name: str, redaction: Redaction) -> str:
    if redaction.is_in(name):
        return "a name that contains a key"
    shown = name if name.isprintable() else ascii(name)
    if len(shown) <= MAX_NAME_CHARACTERS:
        return shown
    return f"{shown[: MAX_NAME_CHARACTERS - 1]}…"
