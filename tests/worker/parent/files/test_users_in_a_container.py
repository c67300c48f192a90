"""A whole worker as the container starts it: an ordinary user whose children are another's."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from switchyard_worker.parent.files.users import SlotUser, as_user
from tests.worker.task_users import agent_users, task_users
from tests.worker.test_main import ENVIRONMENT, REPOSITORY

ENTRYPOINT = REPOSITORY / "switchyard_worker" / "entrypoint.sh"
WORKER, GROUP = 1001, 1000
OURS = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": f"layers/shared/python:.:{sysconfig.get_path('platlib')}",
    "PYTHONDONTWRITEBYTECODE": "1",
    "DELETE_FILES_AFTER_UPLOAD": "true",
}

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can change users"
)


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that other users may run too: that of a virtual environment often is not."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        program = [candidate, "-c", f"import psutil, pydantic, {SlotUser.__module__}"]
        tried = subprocess.run(
            [
                "/bin/sh",
                ENTRYPOINT,
                *as_user(program, SlotUser(task_users(1)[0]), folder=REPOSITORY),
            ],
            cwd=REPOSITORY,
            env=OURS,
            capture_output=True,
            check=False,
            timeout=180,
        )
        if tried.returncode == 0:
            return candidate
    pytest.skip("every Python here is root's alone")


@pytest.fixture
def users() -> range:
    return task_users(4)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lets nobody else pass
        os.chown(folder, WORKER, GROUP)
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def started(
    python: str, folder: Path, users: range, *, delay_ms: int
) -> Iterator[subprocess.Popen[str]]:
    program = ["-m", "tests.worker.in_memory", str(folder), str(delay_ms), "1"]
    with subprocess.Popen(
        ["/bin/sh", ENTRYPOINT, python, *program],
        cwd=REPOSITORY,
        env=ENVIRONMENT
        | OURS
        | agent_users(users)
        | {"HOME": str(folder), "OUTPUT_FOLDER": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def until(worker: subprocess.Popen[str], text: str) -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        if text in line:
            return
        assert "task is settled" not in line, line
    pytest.fail(f"it ended before it said {text!r}")


def report(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text())


def states(folder: Path) -> dict[str, str]:
    found: dict[str, str] = report(folder)["states"]
    return found


@pytest.mark.long
def test_a_task_is_done_by_the_agents_user_and_its_files_are_read(
    python: str, folder: Path, users: range
) -> None:
    with started(python, folder, users, delay_ms=0) as worker:
        until(worker, "task is settled")
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)
    assert (worker.returncode, states(folder)) == (0, {"t0": "COMPLETED"})
    assert not [path for path in folder.iterdir() if path.is_dir()]


def test_what_a_child_kept_to_itself_is_uploaded_or_goes_with_its_home(
    python: str, folder: Path, users: range
) -> None:
    ended = subprocess.run(
        ["/bin/sh", ENTRYPOINT, python, "-m", "tests.worker.parent.files.secretive", str(folder)],
        cwd=REPOSITORY,
        env=ENVIRONMENT | OURS | agent_users(users) | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert ended.returncode == 0, ended.stderr
    assert report(folder) == {"state": "COMPLETED", "notes": "read me", "left": []}


def test_a_worker_ends_children_that_are_not_its_own(
    python: str, folder: Path, users: range
) -> None:
    with started(python, folder, users, delay_ms=60_000) as worker:
        until(worker, "sdk_query")
        below = psutil.Process(worker.pid).children(recursive=True)
        (child,) = [process for process in below if process.uids().real in users]
        owners = child.uids()
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)
    assert (owners.real, owners.effective, owners.saved) == (users[0], users[0], users[0])
    assert (worker.returncode, states(folder)) == (0, {"t0": "QUEUED"})
    assert not child.is_running()


CHECKING = """
import asyncio, pathlib, sys
from switchyard.adapters.system import SystemClock, system_sleep
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.files.users import effective_capabilities

async def main():
    host = {"AGENT_USERS": "20000-20031"}
    guard = GuardClient(clock=SystemClock(), sleep=system_sleep, host_environment=host)
    finding = await guard.check_value(b"1", {"type": "string"})
    status = pathlib.Path(f"/proc/{guard._process.pid}/status")
    print(finding.wrong, effective_capabilities() != 0, effective_capabilities(status))
    await guard.close()

asyncio.run(main())
"""


def test_the_process_that_checks_schemas_has_none_of_the_workers_capabilities(python: str) -> None:
    ended = subprocess.run(
        ["/bin/sh", ENTRYPOINT, python, "-c", CHECKING],
        cwd=REPOSITORY,
        env=OURS,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert ended.stdout == "mismatch True 0\n", ended.stderr
