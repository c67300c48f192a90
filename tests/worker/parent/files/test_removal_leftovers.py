"""Task folders of a worker that was killed are removed by the next one that starts there."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard.adapters.system import SystemClock, ThreadOffload
from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.removal import LOCK_FILE, MOVED_TO, Leftovers
from switchyard_worker.parent.files.users import SlotUser, files_as
from tests.builders import a_task
from tests.worker.test_main import ENVIRONMENT, REPOSITORY

AGENT = 57_000 + os.getpid() % 3_000


@pytest.fixture
def output() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lets no other user pass
        Path(folder).chmod(0o711)
        yield Path(folder)


def a_worker(output: Path) -> Leftovers:
    async def no_pause(_: float) -> None:
        raise TimeoutError("it is not removed at once")

    return Leftovers(
        output_folder=output,
        clock=SystemClock(),
        sleep=no_pause,
        offload=ThreadOffload(threads=1),
    )


def started(output: Path) -> Leftovers:
    worker = a_worker(output)

    async def story() -> None:
        await worker.move()
        await worker.remove()

    asyncio.run(story())
    return worker


def an_attempt(output: Path, task: str = "a", user: SlotUser | None = None) -> Path:
    folder = TaskFolder.fresh(output, Lease(a_task(task, fence=3), "me"), user)
    with files_as(user):
        (folder.path / "artifacts" / "file").touch()
        (folder.path / "tmp").chmod(0o1000)
    folder.close()
    return folder.path


def names(output: Path) -> set[str]:
    return {path.name for path in output.iterdir()} - {LOCK_FILE, MOVED_TO}


def test_folders_of_an_earlier_worker_are_removed(output: Path) -> None:
    an_attempt(output)
    an_attempt(output, "b")

    worker = started(output)

    assert not names(output)
    assert not list((output / MOVED_TO).iterdir())
    worker.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have tasks of other users")
def test_folders_of_other_users_are_removed_with_their_rights_and_nothing_elsewhere(
    output: Path,
) -> None:
    an_attempt(output, user=SlotUser(AGENT))
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as used_again:
        os.chown(used_again.name, AGENT, AGENT)
        started(output).close()
        assert Path(used_again.name).exists()

    assert not list((output / MOVED_TO).iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have tasks of other users")
def test_a_folder_that_its_user_closed_to_itself_is_removed(output: Path) -> None:
    an_attempt(output, user=SlotUser(AGENT)).chmod(0)

    started(output).close()

    assert not list((output / MOVED_TO).iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have tasks of other users")
def test_a_later_attempt_has_a_user_of_its_own_beside_an_earlier_folder(output: Path) -> None:
    earlier = an_attempt(output, user=SlotUser(AGENT))
    later = Lease(a_task("a", fence=4), "me")
    TaskFolder.fresh(output, later, SlotUser(AGENT + 1)).close()

    above = earlier.parent.stat()
    assert (above.st_gid, above.st_mode & 0o777) == (AGENT + 1, 0o710)
    started(output).close()
    assert not list((output / MOVED_TO).iterdir())


def test_a_folder_of_a_system_user_is_left_and_reported(
    output: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulated: removal is never tried with such a user."""
    path = an_attempt(output)
    monkeypatch.setattr("switchyard_worker.parent.files.folder.os.geteuid", lambda: 4_321)
    monkeypatch.setattr(Path, "lstat", lambda _: os.stat_result((0,) * 4 + (33,) + (0,) * 5))
    worker = a_worker(output)
    asyncio.run(worker.move())

    with pytest.raises(TimeoutError):
        asyncio.run(worker.remove())

    assert "user 33 cannot be a task's" in str([vars(record) for record in caplog.records])
    assert len(worker.left) == 1
    assert (output / MOVED_TO / "1" / path.name / "artifacts" / "file").exists()
    worker.close()


def test_what_an_earlier_start_had_moved_is_removed_too(output: Path) -> None:
    an_attempt(output)
    killed = a_worker(output)
    asyncio.run(killed.move())
    killed.close()
    an_attempt(output, "b")

    started(output).close()

    assert not names(output)
    assert not list((output / MOVED_TO).iterdir())


def test_folders_below_a_living_worker_stay(output: Path) -> None:
    first = started(output)
    an_attempt(output)
    second = started(output)
    assert names(output) == {a_task("a").ref.request_id}

    first.close()
    third = started(output)  # the second lives, and may have tasks there
    assert names(output)
    second.close()
    third.close()
    started(output).close()
    assert not names(output)


def test_a_worker_that_is_killed_owns_nothing(output: Path) -> None:
    an_attempt(output)
    program = """
import fcntl, os, sys, time
fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), fcntl.LOCK_SH)
print("locked", flush=True)
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program, output / LOCK_FILE], stdout=subprocess.PIPE
    ) as living:
        assert living.stdout is not None
        living.stdout.readline()
        started(output).close()
        assert names(output)
        living.kill()

    started(output).close()
    assert not names(output)


def test_what_is_no_attempts_folder_stays(output: Path, tmp_path: Path) -> None:
    (output / "by-hand" / "artifacts").mkdir(parents=True)
    (output / ".pulse").touch()
    (output / "notes.txt").touch()
    (output / "with a space" / "3").mkdir(parents=True)
    (output / "link").symlink_to(tmp_path)
    (tmp_path / "3").mkdir()
    (output / "linked").mkdir()
    (output / "linked" / "3").symlink_to(tmp_path)
    before = names(output)

    started(output).close()

    assert names(output) == before
    assert (tmp_path / "3").exists()


def test_a_worker_removes_them_while_it_runs_its_own_tasks(output: Path) -> None:
    an_attempt(output, "old")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.worker.in_memory", output, "500", "1"],
        cwd=REPOSITORY,
        env=ENVIRONMENT | {"OUTPUT_FOLDER": str(output), "DELETE_FILES_AFTER_UPLOAD": "true"},
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        assert worker.stdout is not None
        said = []
        for line in worker.stdout:
            said.append(line)
            if "task is settled" in line:
                worker.terminate()

    assert worker.returncode == 0
    assert json.loads((output / "report.json").read_text())["states"] == {"t0": "COMPLETED"}
    assert '"message":"an earlier worker left folders"' in "".join(said)
    assert names(output) == {".pulse", "report.json"}
    assert not list((output / MOVED_TO).iterdir())
