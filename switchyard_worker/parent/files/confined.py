"""Opens files below a folder that an agent may change at any moment, and nothing else.

A name is resolved by the kernel in one call that follows no link and leaves neither the folder nor
its file system; a kernel without that call is asked for one component after the other. A file is
opened first and judged by its descriptor: what is judged is what is read.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Collection
from typing import Final

OPENAT2: Final = 437  # the same number on every architecture
RESOLVE: Final = 0x01 | 0x02 | 0x04 | 0x08  # NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH
FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WITHOUT_OPENAT2: Final = {errno.ENOSYS, errno.EPERM}  # an old kernel, or a filter of system calls
_TRIES: Final = 16  # EAGAIN: something was renamed while the kernel looked

_libc: Final = ctypes.CDLL(None, use_errno=True)


class NotReadable(Exception):
    """A file is not an ordinary one of the task's user, or too large."""


class _How(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_beneath(folder: int, name: str, flags: int, mode: int = 0) -> int:
    """Open `name` below the descriptor `folder`. Raise `OSError`."""
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise OSError(errno.EINVAL, "names no file below the folder", name)
    try:
        return openat2(folder, name, flags, mode)
    except OSError as error:
        if error.errno not in _WITHOUT_OPENAT2:
            raise
    return _open_by_component(folder, parts, flags, mode)


def openat2(folder: int, name: str, flags: int, mode: int) -> int:
    """Ask the kernel to resolve the whole name beneath `folder`. Raise `OSError`."""
    how = _How(flags, mode if flags & os.O_CREAT else 0, RESOLVE)
    for _ in range(_TRIES):
        found: int = _libc.syscall(
            OPENAT2, folder, os.fsencode(name), ctypes.byref(how), ctypes.sizeof(how)
        )
        if found >= 0:
            return found
        if ctypes.get_errno() not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)


def _open_by_component(folder: int, parts: list[str], flags: int, mode: int) -> int:
    device = os.fstat(folder).st_dev
    here = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = os.open(part, FOLDER_FLAGS, dir_fd=here)
            os.close(here)
            here = below
            _check_device(here, device, part)
        found = os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=here)
    finally:
        os.close(here)
    try:
        _check_device(found, device, parts[-1])
    except OSError:
        os.close(found)
        raise
    return found


def _check_device(descriptor: int, device: int, name: str) -> None:
    if os.fstat(descriptor).st_dev != device:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)


def open_file(folder: int, name: str, *, owners: Collection[int]) -> int:
    """Open an ordinary file for reading that one of these users owns and that has one name.

    Raise `NotReadable`, or `FileNotFoundError`. Without O_NONBLOCK a named pipe would block.
    """
    try:
        descriptor = open_beneath(folder, name, FILE_FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotReadable(f"{_last(name)} cannot be read: {error.strerror}") from error
    problem = problem_with(os.fstat(descriptor), owners)
    if problem:
        os.close(descriptor)
        raise NotReadable(f"{_last(name)} {problem}")
    return descriptor


def read_bounded(folder: int, name: str, *, max_bytes: int, owners: Collection[int]) -> bytes:
    """Read a whole file. Raise `NotReadable`, or `FileNotFoundError`."""
    with os.fdopen(open_file(folder, name, owners=owners), "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise NotReadable(f"{_last(name)} is larger than {max_bytes} bytes")
    return content


def create_file(folder: int, name: str) -> int:
    """Create a file that did not exist, and open it for writing. Raise `OSError`."""
    return open_beneath(folder, name, CREATE_FLAGS, 0o600)


def problem_with(status: os.stat_result, owners: Collection[int]) -> str | None:
    """Say why a file is not read, if it is not an ordinary one of these users."""
    if not stat.S_ISREG(status.st_mode):
        return "is not an ordinary file"
    if status.st_nlink != 1:
        return "has other names: a hard link may lead to a file of another user"
    if status.st_uid not in owners:
        return "belongs to another user"
    return None


def _last(name: str) -> str:
    return name.rpartition("/")[2]
