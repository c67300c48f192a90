"""What the processes of a task's user use, however they hide it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard_worker.parent.files.users import SlotUser, files_as
from switchyard_worker.parent.supervision import user_processes
from switchyard_worker.parent.supervision.user_processes import open_files_of, use_of
from tests.worker.task_users import task_users

MANY = """
import ctypes, os, sys, threading
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
for _ in range(5):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
ctypes.CDLL(None).prctl(4, int(sys.argv[2]), 0, 0, 0)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the worker runs on Linux")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("dumpable", [1, 0], ids=["open", "hidden from others"])
def test_threads_of_a_user_are_counted_however_its_processes_hide(dumpable: int) -> None:
    user = 62_000 + os.getpid() % 1_000
    command = [sys.executable, "-I", "-S", "-c", MANY]
    with subprocess.Popen(
        [*command, str(user), str(dumpable)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            assert use_of(user, most_threads=100).threads == 6
            assert use_of(user, most_threads=3).threads > 3
            assert use_of(user + 5_000, most_threads=100).threads == 0
        finally:
            process.kill()


RUNS, ENDED, EXITING = "S 1 1 1 0 -1 4194560", "Z 1 1 1 0 -1 4194560", "R 1 1 1 0 -1 4194564"


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a thread whose open files the system shows to nobody but root."""
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setattr(user_processes, "PROC", Path(name))
        thread = Path(name, "7/task/8")
        (thread / "fd").mkdir(parents=True, mode=0o700 if os.geteuid() == 0 else 0)
        Path(name).chmod(0o755)
        yield thread
        (thread / "fd").chmod(0o700)


@pytest.mark.parametrize("state", [ENDED, EXITING, ""], ids=["ended", "about to end", "gone"])
def test_a_thread_on_its_way_out_hides_nothing(thread: Path, state: str) -> None:
    if state:
        (thread / "stat").write_text(f"8 (a ) name) {state}")

    assert _open_files() == []


def test_a_thread_that_goes_on_and_shows_nothing_hides_it(thread: Path) -> None:
    (thread / "stat").write_text(f"8 (a ) name) {RUNS}")

    with pytest.raises(PermissionError):
        _open_files()


def _open_files() -> list[os.stat_result]:
    with files_as(None if os.geteuid() else SlotUser(task_users(1)[0])):
        return list(open_files_of(7))
