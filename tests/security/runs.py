"""Starts attacked workers as the container starts one, and the API that they ask."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from switchyard_worker.parent.files.users import SlotUser, as_user
from tests.fakes.servers.messages_api import messages_api
from tests.security.attack import Group
from tests.security.observed import Observed
from tests.security.planted_secrets import CREDENTIALS
from tests.worker.task_users import agent_users, task_users

REPOSITORY: Final = Path(__file__).parents[2]
ENTRYPOINT: Final = REPOSITORY / "switchyard_worker" / "entrypoint.sh"
WORKER, GROUP = 1001, 1000
USERS: Final = 12
SHARES: Final = 100 * 1024
"""A container on Fargate shares its processors with nobody; other programs here get little."""
PROCESSORS: Final = Path("/sys/fs/cgroup/cpu")
SETTINGS: Final[Mapping[str, str]] = {
    "STAGE": "test",
    "EVENTBRIDGE_BUS_NAME": "bus",
    "STATE_TABLE_NAME": "state",
    "TASK_DEFINITIONS_TABLE": "definitions",
    "SQS_QUEUE_URL": "queue",
    "S3_BUCKET": "bucket",
    "AGENT_BACKEND": "auto",
    "MAX_CONCURRENT_CLAUDE": "4",
    "VISIBILITY_EXTENSION_INTERVAL": "5000",
    "VISIBILITY_EXTENSION_AMOUNT": "30",
    "CLAUDE_TIMEOUT": "6000",
    "STOP_GRACE_SECONDS": "5",
    "DELETE_FILES_AFTER_UPLOAD": "true",
    "PYTHONDONTWRITEBYTECODE": "1",
}
BY_GROUP: Final[Mapping[Group, Mapping[str, str]]] = {
    Group.DISK: {"CHILD_DISK_MB": "50", "CHILD_MAX_FILES": "5000", "CLAUDE_TIMEOUT": "20000"},
    Group.FILES: {"CHILD_DISK_MB": "200"},
    Group.LIMITS: {"CHILD_TASK_MEMORY_MB": "1200"},
    Group.LOOP: {"CLAUDE_TIMEOUT": "10000"},
    Group.KEY: {"CLAUDE_TIMEOUT": "30000"},
}


class CannotRun(Exception):
    """This machine lacks what the attacks need."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How an attacked worker ended, and what was observed until then."""

    exit_code: int
    observed: list[Observed]
    victim: Mapping[str, Any] | None
    log: str
    problem: str = ""

    @property
    def stopped_by_attack(self) -> bool:
        words = ("worker ended by a bug", "worker is unhealthy", "worker leaves at once")
        return self.exit_code != 0 or any(word in self.log for word in words)


def interpreter() -> str:
    """Return a Python that other users may run, since virtual environments are often closed.

    Raise `CannotRun`.
    """
    if sys.platform != "linux":
        raise CannotRun("the attacks need Linux, as the worker does")
    if os.geteuid() != 0:
        raise CannotRun("only root can start the entrypoint: run this as root")
    if shutil.which("setpriv") is None:
        raise CannotRun("setpriv is missing: install util-linux")
    for candidate in (sys.executable, "/usr/bin/python3"):
        program = [candidate, "-c", f"import psutil, pydantic, h11, {SlotUser.__module__}"]
        tried = subprocess.run(
            [
                "/bin/sh",
                ENTRYPOINT,
                *as_user(program, SlotUser(task_users(1)[0]), folder=REPOSITORY),
            ],
            cwd=REPOSITORY,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": python_path()},
            capture_output=True,
            check=False,
            timeout=60,
        )
        if tried.returncode == 0:
            return candidate
    raise CannotRun("every Python here is closed to other users")


def python_path() -> str:
    own = [REPOSITORY / "layers/shared/python", REPOSITORY, sysconfig.get_path("platlib")]
    return os.pathsep.join(map(str, own))


def attacked(
    names: Sequence[str], group: Group, *, python: str | None, claude: bool = True
) -> Ended:
    """Run these attacks by one worker; without `python` as this process's own user."""
    with tempfile.TemporaryDirectory(prefix="attacked-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if python:
            os.chown(folder, WORKER, GROUP)
        folder.chmod(0o711)
        (folder / "attacks.json").write_text(json.dumps(list(names)))
        (folder / "attacks.json").chmod(0o644)
        with messages_api() as api, _processor_group() as join:
            environment = _environment(group, folder, api.url if claude else None, python)
            return _run(folder, python, environment, join, seconds=60 + 60 * len(names))


def _environment(group: Group, folder: Path, api: str | None, python: str | None) -> dict[str, str]:
    secrets = CREDENTIALS if api else {}
    return {
        "PATH": "/usr/bin:/bin" if python else os.environ["PATH"],
        "PYTHONPATH": python_path(),
        "HOME": str(folder),
        "OUTPUT_FOLDER": str(folder / "output"),
        **SETTINGS,
        **BY_GROUP.get(group, {}),
        **secrets,
        **({"ANTHROPIC_BASE_URL": api} if api else {}),
        **(agent_users(task_users(USERS)) if python else {}),
    }


def _run(
    folder: Path, python: str | None, environment: dict[str, str], join: str, *, seconds: float
) -> Ended:
    module = ["-m", "tests.security.attacked_worker", str(folder)]
    entrypoint = ["/bin/sh", str(ENTRYPOINT), python] if python else [sys.executable]
    command = ["/bin/sh", "-c", f'{join} exec "$@"', "sh", *entrypoint, *module]
    path = folder / "worker.log"
    with path.open("wb") as log:
        path.chmod(0o644)
        with subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                code = -1
    text = path.read_text(errors="replace")
    report = folder / "observed.json"
    if not report.exists():
        return Ended(exit_code=code or 1, observed=[], victim=None, log=text, problem=text[-3000:])
    found = json.loads(report.read_text())
    observed = [Observed(**each) for each in found["observed"]]
    return Ended(exit_code=code, observed=observed, victim=found["victim"], log=text)


@contextmanager
def _processor_group() -> Iterator[str]:
    """Give the worker a group of its own for processor time, as every container has one.

    Services of one the scheduler makes a group of each session, and a priority counts within its
    session only: https://man7.org/linux/man-pages/man7/sched.7.html
    """
    place = PROCESSORS / f"attacked-{os.getpid()}"
    try:
        place.mkdir()
        (place / "cpu.shares").write_text(str(SHARES))
    except OSError:
        yield ""
        return
    try:
        yield f'echo $$ > "{place}/cgroup.procs";'
    finally:
        _remove_group(place)


def _remove_group(place: Path) -> None:
    for pid in (place / "cgroup.procs").read_text().split():
        (PROCESSORS / "cgroup.procs").write_text(pid)
    place.rmdir()


def has_processor_group() -> bool:
    return PROCESSORS.is_dir() and os.access(PROCESSORS, os.W_OK)
