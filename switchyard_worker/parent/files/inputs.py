"""The folder `inputs` of a task: filled before its child starts, and read-only from then on.

It is made in a folder that is new for this attempt, so nothing of an earlier one is in its place,
and every name is resolved without following a link. The task's user owns it: a child that changes
its own copies deceives no other task, since nothing is read from there again.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from switchyard_worker.boundary import INPUTS
from switchyard_worker.parent.files.confined import FOLDER_FLAGS, create_file, open_beneath
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.users import files_as

READ_ONLY_FILE: Final = 0o400
READ_ONLY_FOLDER: Final = 0o500


@dataclass(frozen=True, slots=True)
class InputsFolder:
    folder: TaskFolder

    def make(self) -> None:
        """Raise `OSError`, also if something is in its place."""
        with files_as(self.folder.user):
            os.mkdir(INPUTS, mode=0o700, dir_fd=self.folder.descriptor)

    @contextlib.contextmanager
    def new_file(self, name: str) -> Iterator[IO[bytes]]:
        """Open a new file for writing; it is read-only after the block. Raise `OSError`."""
        path = f"{INPUTS}/{name}"
        with files_as(self.folder.user):
            self._make_folders_above(path)
            descriptor = create_file(self.folder.descriptor, path)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            with files_as(self.folder.user):
                os.fchmod(file.fileno(), READ_ONLY_FILE)

    def close_folders(self, names: Iterator[str]) -> None:
        """Make the folders of these files read-only, the deepest first. Raise `OSError`."""
        folders = {above for name in names for above in _folders_above(f"{INPUTS}/{name}")}
        with files_as(self.folder.user):
            for path in sorted(folders, key=len, reverse=True):
                descriptor = open_beneath(self.folder.descriptor, path, FOLDER_FLAGS)
                try:
                    os.fchmod(descriptor, READ_ONLY_FOLDER)
                finally:
                    os.close(descriptor)

    def _make_folders_above(self, path: str) -> None:
        for above in _folders_above(path)[1:]:
            parent, _, name = above.rpartition("/")
            descriptor = open_beneath(self.folder.descriptor, parent, FOLDER_FLAGS)
            try:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, mode=0o700, dir_fd=descriptor)
            finally:
                os.close(descriptor)


def _folders_above(path: str) -> list[str]:
    """Return the folders on the way to a file, the topmost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
