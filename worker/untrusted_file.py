"""Reads files that an agent wrote: never through a link, never without an end."""

import os
import stat
from pathlib import Path


class NotReadable(Exception):
    """Not an ordinary file, or too large."""


def read_bounded(path: Path, *, max_bytes: int) -> bytes:
    """Raise `NotReadable`, or `FileNotFoundError`."""
    try:
        # Without O_NONBLOCK a named pipe would hold us for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotReadable(f"{path.name} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotReadable(f"{path.name} is not an ordinary file")
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise NotReadable(f"{path.name} is larger than {max_bytes} bytes")
    return content
