"""Tasks of one worker are users of their own: attacks across them, as root with real users."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.security.two_tasks import ATTACKS, REFUSED
from tests.worker.parent.files.test_users_in_a_container import (
    ENTRYPOINT,
    GROUP,
    OURS,
    WORKER,
    python,
)
from tests.worker.task_users import agent_users, task_users
from tests.worker.test_main import ENVIRONMENT, REPOSITORY

__all__ = ["python"]

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can change users"
)


@pytest.fixture(scope="module")
def report(python: str) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own lets nobody else pass
        os.chown(folder, WORKER, GROUP)
        Path(folder).chmod(0o711)
        ended = subprocess.run(
            ["/bin/sh", ENTRYPOINT, python, "-m", "tests.security.two_tasks", folder],
            cwd=REPOSITORY,
            env=ENVIRONMENT | OURS | agent_users(task_users(2)) | {"AWS_SECRET": "canary"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode == 0, ended.stderr
        yield json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_on_another_task_or_the_worker_is_refused(
    attack: str, report: dict[str, Any]
) -> None:
    assert report[attack] == REFUSED


@pytest.mark.parametrize(
    "promise",
    [
        "the victim lives",
        "the worker reads the result",
        "all processes of a user are ended",
        "shared memory of a user is removed",
        "no other user's processes are ended",
        "files elsewhere are removed",
    ],
)
def test_the_worker_still_does_its_work(promise: str, report: dict[str, Any]) -> None:
    assert report[promise] is True
