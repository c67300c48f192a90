"""Reads the worker's settings, and explains in plain words what is wrong with them."""

import errno
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from switchyard.functions.errors import FunctionsError
from switchyard.settings import WorkerSettings
from switchyard_worker.parent.attempts.functions import ServedFunctions
from switchyard_worker.parent.files.folder import make_folder
from switchyard_worker.parent.files.users import (
    SlotUser,
    as_user,
    check_users,
    effective_capabilities,
    slot_users,
)
from switchyard_worker.parent.receive.lease import LeaseTiming


class Misconfigured(Exception):
    """The settings are wrong; the text has a line with a sentence for each variable."""


@dataclass(frozen=True, slots=True)
class Configuration:
    settings: WorkerSettings
    timing: LeaseTiming
    functions: ServedFunctions


def read_configuration() -> Configuration:
    try:
        settings = WorkerSettings()
        check_users(
            os.environ,
            capabilities=effective_capabilities(),
            slots=settings.max_concurrent_claude,
            deletes_files=settings.delete_files_after_upload,
        )
        check_writable(settings.output_folder, os.environ)
        return Configuration(settings, LeaseTiming.of(settings), _functions(settings))
    except ValidationError as error:
        raise Misconfigured("\n".join(map(_sentence, error.errors()))) from error
    except ValueError as error:
        raise Misconfigured(f"{error}.") from error


def _functions(settings: WorkerSettings) -> ServedFunctions:
    try:
        return ServedFunctions.at(settings.functions)
    except FunctionsError as problem:
        raise Misconfigured(f"FUNCTIONS is {settings.functions!r}: {problem}.") from problem


def _sentence(problem: Any) -> str:
    variable = str(problem["loc"][0]).upper()
    if problem["type"] == "missing":
        return f"{variable} is not set."
    return f"{variable} is {problem['input']!r}: {problem['msg']}."


MACHINES_TEMPORARY_FOLDER: Final = "/tmp"  # noqa: S108  what the worker's own tools use
PASSED: Final = 0o711
_WHAT_TO_DO: Final = {
    errno.EROFS: "mount a writable volume there",
    errno.ENOTDIR: "remove the file in its place",
    errno.EEXIST: "remove the file in its place",
    errno.ENOSPC: "free or add space",
}


class NotWritable(ValueError):
    """A folder that tasks need cannot be written."""


def check_writable(output_folder: Path, host: Mapping[str, str]) -> None:
    """Raise `NotWritable` if the worker, or a task's user, cannot write where it has to.

    Each task's HOME and TMPDIR are inside the output folder. The machine's temporary folder is the
    worker's: in the image it is closed to tasks, which could leave files for each other in it.
    """
    output = output_folder.absolute()
    user = next(iter(slot_users(host).values()), None)
    with _new_folder("OUTPUT_FOLDER", output) as made:
        if user:
            _check_user(output, made, user, host)
    with _new_folder("TMPDIR", Path(host.get("TMPDIR") or MACHINES_TEMPORARY_FOLDER)):
        pass


@contextmanager
def _new_folder(variable: str, folder: Path) -> Iterator[Path]:
    """Make a folder below `folder`, and remove it afterwards."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder, prefix=".writable-"))
    except OSError as problem:
        raise _not_writable(variable, folder, str(os.geteuid()), problem) from problem
    try:
        yield made
    finally:
        made.rmdir()


def _check_user(output: Path, made: Path, user: SlotUser, host: Mapping[str, str]) -> None:
    """Make a folder as a task's are made, and let a process of its user go there."""
    own = made / "task"
    try:
        output.chmod(PASSED)
        make_folder(own, user)
    except OSError as problem:
        raise _not_writable("OUTPUT_FOLDER", output, str(user.id), problem) from problem
    try:
        _check_process(output, own, user, host)
    finally:
        own.rmdir()


def _check_process(output: Path, own: Path, user: SlotUser, host: Mapping[str, str]) -> None:
    tried = subprocess.run(
        as_user(["test", "-w", "."], user, folder=own),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": host.get("PATH", os.defpath)},
        check=False,
    )
    if tried.returncode != 0:
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise _not_writable("OUTPUT_FOLDER", output, str(user.id), refused)


def _not_writable(variable: str, folder: Path, user: str, problem: OSError) -> NotWritable:
    found = _nearest_existing(folder)
    status = found.lstat()
    mode = stat.S_IMODE(status.st_mode)
    advice = _WHAT_TO_DO.get(problem.errno or 0, "give that user the right to write there")
    return NotWritable(
        f"{variable} is {str(folder)!r}, where user {user} cannot write ({problem.strerror}): "
        f"{found} belongs to {status.st_uid}:{status.st_gid} and has the mode {mode:04o}; "
        f"{advice}, or set {variable} to another folder"
    )


def _nearest_existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if os.path.lexists(path))
