"""Files of this machine that are submitted with a job: checked, measured and uploaded."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from switchyard.client.errors import UnusableFile
from switchyard.contracts.files import FileContent
from switchyard.domain.ids import FILE_NAME, FILE_NAME_RULE
from switchyard.domain.jobs.files import MAX_FILE_BYTES, MAX_JOB_FILES, MEGABYTE

if TYPE_CHECKING:
    from switchyard.client.routes import Routes

PIECE_BYTES: Final = 256 * 1024

Progress = Callable[[int], None]
"""A function that is called with the number of bytes that were read or sent just now."""


def no_progress(_: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    name: str
    path: Path
    size: int

    def pieces(self, progress: Progress = no_progress) -> Iterator[bytes]:
        """Raise `UnusableFile`."""
        try:
            with self.path.open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    progress(len(piece))
                    yield piece
        except OSError as error:
            raise UnusableFile(f"{self.path} cannot be read: {error.strerror}.") from error

    def measured(self, progress: Progress = no_progress) -> FileContent:
        """Read the file once for its checksum. Raise `UnusableFile`."""
        digest, size = hashlib.sha256(), 0
        for piece in self.pieces(progress):
            digest.update(piece)
            size += len(piece)
        if size != self.size:
            raise UnusableFile(f"{self.path} is being written to; submit it once it is complete.")
        return FileContent(sha256=digest.hexdigest(), size=size)


def local_files(given: Mapping[str, Path | str]) -> list[LocalFile]:
    """Return files by their names in the job. Raise `UnusableFile`.

    A name without an ending gets that of the file: agents recognise a file by its ending.
    """
    found: dict[str, LocalFile] = {}
    for name, path in given.items():
        file = _local_file(name, Path(path))
        if file.name in found:
            raise UnusableFile(f"Two files have the name {file.name!r}; give one another name.")
        found[file.name] = file
    if len(found) > MAX_JOB_FILES:
        raise UnusableFile(f"A job has at most {MAX_JOB_FILES} files, this one {len(found)}.")
    return list(found.values())


def with_ending(name: str, path: Path) -> str:
    """Return what a file is called in its job: a name without an ending gets that of the file."""
    return name + path.suffix if name and "." not in name else name


def _local_file(name: str, path: Path) -> LocalFile:
    name = with_ending(name, path)
    if not FILE_NAME.fullmatch(name):
        raise UnusableFile(f"The name of a file must be {FILE_NAME_RULE}; {name!r} is not.")
    try:
        status = path.stat()
    except OSError as error:
        raise UnusableFile(f"{path} cannot be read: {error.strerror}.") from error
    if stat.S_ISDIR(status.st_mode):
        raise UnusableFile(f"{path} is a folder; pack it into one file, or name each file.")
    if not stat.S_ISREG(status.st_mode):
        raise UnusableFile(f"{path} is not an ordinary file.")
    if status.st_size > MAX_FILE_BYTES:
        most = MAX_FILE_BYTES // MEGABYTE
        raise UnusableFile(f"{path} has {status.st_size:,} bytes; a file has at most {most} MB.")
    return LocalFile(name, path, status.st_size)


def upload(
    api: Routes, file: LocalFile, content: FileContent, progress: Progress = no_progress
) -> None:
    """Send a file, unless it was sent before; to send it again does no harm."""
    link = api.upload_link(content)
    if link.uploaded or link.url is None:
        progress(content.size)
        return
    api.upload(link.url, link.headers, file.pieces(progress))
