"""What tasks leave on the disk is removed in the end, and until then it is reported and counted."""

import asyncio
import contextlib
import errno
import itertools
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from switchyard.adapters.system import SystemClock, ThreadOffload
from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.removal import Removals
from switchyard_worker.parent.files.users import SlotUser, SlotUsers, files_as
from tests.builders import a_task

AGENT = 60_000 + os.getpid() % 3_000
"""A user that nothing runs as; several runs of the tests do not remove each other's files."""
IMMUTABLE = "immutable"


@pytest.fixture
def output() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lets no other user pass
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture
def user() -> SlotUser | None:
    """A task's user where tests run as root, else none: then tasks are this user's."""
    return SlotUser(AGENT) if os.geteuid() == 0 else None


class Place:
    """Removals whose pauses pass at once, and at each of which something may change."""

    def __init__(self, user: SlotUser | None) -> None:
        self.users = SlotUsers({user.id: user} if user else {})
        self.ended = True
        self.pauses = 0
        self.at_pause: Callable[[], None] = lambda: None
        self.removals = Removals(
            users=self.users,
            is_ended=self._is_ended,
            clock=SystemClock(),
            sleep=self._pause,
            offload=ThreadOffload(threads=2),
        )

    async def _is_ended(self, _: SlotUser) -> bool:
        return self.ended

    async def _pause(self, _: float) -> None:
        self.pauses += 1
        if self.pauses > 1 and not self.removals.left:
            raise asyncio.CancelledError
        if self.pauses > 100:
            raise TimeoutError("it is never removed")
        self.at_pause()
        await asyncio.sleep(0)

    def remove(self, folder: TaskFolder) -> None:
        asyncio.run(self.removals.remove(folder))

    def remove_later(self) -> None:
        async def story() -> None:
            with pytest.raises(asyncio.CancelledError):
                await self.removals.keep()

        asyncio.run(story())


@pytest.fixture
def place(user: SlotUser | None) -> Place:
    return Place(user)


def a_folder(output: Path, place: Place) -> TaskFolder:
    return TaskFolder.fresh(output, Lease(a_task("a", fence=3), "me"), place.users.take())


@pytest.mark.parametrize("mode", [0, 0o1777, 0o500, 0o3711])
def test_folders_of_any_mode_are_removed_at_once(output: Path, place: Place, mode: int) -> None:
    folder = a_folder(output, place)
    with files_as(folder.user):
        inner = folder.path / "artifacts" / "a"
        (inner / "b").mkdir(parents=True)
        (inner / "b" / "file").touch(mode=0)
        (inner / "file").touch()
        (inner / "b").chmod(mode)
        inner.chmod(mode)
        (folder.path / "tmp").chmod(mode)
        folder.path.chmod(mode)

    place.remove(folder)

    assert not list(output.iterdir())
    assert not place.removals.left


@pytest.fixture
def immutable(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names that the system refuses to remove, as it does where an attribute protects them."""
    protected = {IMMUTABLE}
    unlink = os.unlink

    def guarded(name: Any, **facts: Any) -> None:
        if name in protected:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), name)
        unlink(name, **facts)

    monkeypatch.setattr("switchyard_worker.parent.files.trees.os.unlink", guarded)
    return protected


def test_what_resists_is_reported_counted_and_removed_later(
    output: Path, place: Place, immutable: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    folder = a_folder(output, place)
    with files_as(folder.user):
        inner = folder.path / "artifacts" / "inner"
        inner.mkdir()
        for name in ("a", IMMUTABLE, "z"):
            (inner / name).touch()
        (inner / "deep" / "deeper").mkdir(parents=True)
    place.remove(folder)

    assert place.removals.left == [folder]
    [record] = [r for r in caplog.records if r.message.startswith("files of a task could not")]
    assert record.levelname == "ERROR"
    assert record.folders_left == 1  # type: ignore[attr-defined]
    assert os.strerror(errno.EPERM) in record.error  # type: ignore[attr-defined]
    left = [name for _, folders, files in os.walk(output) for name in files]
    assert left == [IMMUTABLE]  # it protects nothing that is beside it
    if folder.user:
        with pytest.raises(OSError, match="in use"):
            place.users.take()  # the next task would find these files

    place.at_pause = immutable.clear
    place.remove_later()

    assert not list(output.iterdir())
    assert place.users.take() == folder.user


def test_a_folder_is_not_removed_before_its_user_has_ended(output: Path, place: Place) -> None:
    folder = a_folder(output, place)
    if folder.user is None:
        pytest.skip("only root can have tasks of other users")
    place.ended = False
    place.remove(folder)
    assert (folder.path / "artifacts").exists()

    def end() -> None:
        place.ended = True

    place.at_pause = end
    place.remove_later()
    assert not list(output.iterdir())


def create_without_end(folder: TaskFolder) -> int:
    """Fork a process of the task's user that goes on making folders with a file in each."""
    pid = os.fork()
    if pid:
        return pid
    try:
        if folder.user:
            os.setgroups([])
            os.setgid(folder.user.id)
            os.setuid(folder.user.id)
        for number in itertools.count():
            with contextlib.suppress(OSError):
                os.mkdir(f"d{number}", dir_fd=folder.descriptor)
                os.mknod(f"d{number}/f", dir_fd=folder.descriptor)
    finally:
        os._exit(1)


def test_a_process_that_goes_on_creating_files_delays_a_removal_within_its_time(
    output: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard_worker.parent.files.removal.MAX_SECONDS", 1.0)
    folder = a_folder(output, place)
    creator = create_without_end(folder)
    try:
        while not (folder.path / "d9").exists():
            time.sleep(0.01)
        began = time.monotonic()
        place.remove(folder)
        took = time.monotonic() - began
    finally:
        os.kill(creator, signal.SIGKILL)
        os.waitpid(creator, 0)
    place.remove_later()

    assert took < 5
    assert not list(output.iterdir())
    assert not place.removals.left
