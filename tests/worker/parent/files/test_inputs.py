"""The folder `inputs` of a task that has a user of its own."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.inputs import InputsFolder
from switchyard_worker.parent.files.users import SlotUser, as_user
from tests.builders import a_task
from tests.worker.task_users import task_users

NAMES = ("draft/deep/a.md", "job/b")

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can become another user"
)


@pytest.fixture
def folder() -> Iterator[TaskFolder]:
    with tempfile.TemporaryDirectory() as name:  # pytest's own lets nobody else pass
        place = Path(name)
        place.chmod(0o711)
        made = TaskFolder.fresh(
            place / "output", Lease(a_task("a"), "me"), SlotUser(task_users(1)[0])
        )
        yield made
        made.close()


def filled(folder: TaskFolder) -> None:
    place = InputsFolder(folder)
    place.make()
    for name in NAMES:
        with place.new_file(name) as file:
            file.write(b"content")
    place.close_folders(iter(NAMES))


def tried(folder: TaskFolder, command: str) -> tuple[int, str]:
    """What a program of the task's user does there."""
    program = as_user(["sh", "-c", command], folder.user, folder=folder.path)
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_task_reads_its_files_and_cannot_write_to_them(folder: TaskFolder) -> None:
    filled(folder)
    assert tried(folder, "cat inputs/job/b inputs/draft/deep/a.md") == (0, "contentcontent")
    for command in (
        "echo x >> inputs/job/b",
        "rm inputs/job/b",
        "touch inputs/job/c",
        "touch inputs/c",
    ):
        assert tried(folder, command)[0] != 0


def test_a_read_only_folder_is_removed_with_its_task(folder: TaskFolder) -> None:
    filled(folder)
    folder.remove(seconds=5, monotonic=time.monotonic)
    assert not folder.path.exists()


def test_a_file_is_placed_once(folder: TaskFolder) -> None:
    filled(folder)
    with pytest.raises(OSError, match="inputs"), InputsFolder(folder).new_file("job/b"):
        pass
    with pytest.raises(FileExistsError):
        InputsFolder(folder).make()
