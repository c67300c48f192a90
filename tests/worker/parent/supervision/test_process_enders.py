"""A worker that is killed takes with it all that runs for its tasks, however deep and detached."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.fakes.messages_api import messages_api
from tests.fakes.messages_api_replies import uses
from tests.worker.parent.claude.test_access import BLUE, KEY, MODEL
from tests.worker.test_main import ENVIRONMENT, REPOSITORY
from worker.boundary import WORKER_MARK, mark_of_worker
from worker.child.limits import end_with_worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")

GONE_SECONDS = 5.0
WAIT = "tail --follow /dev/null"
LEFT_BEHIND = f"{WAIT} & setsid {WAIT} & (setsid sh -c '{WAIT} & {WAIT}' &); "


@contextmanager
def killed_worker(folder: Path, definition: Mapping[str, object], **more: str) -> Iterator[int]:
    """Yield the worker's process id."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.worker.killed_worker", folder, json.dumps(definition)],
        cwd=REPOSITORY,
        env=ENVIRONMENT | {"OUTPUT_FOLDER": str(folder)} | more,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield worker.pid
    finally:
        worker.kill()
        worker.wait()


def family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def waiting(pid: int) -> list[psutil.Process]:
    return [process for process in family(pid) if _command(process) == WAIT.split()]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    ends_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends_at, what
        time.sleep(0.05)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_a_child_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    with killed_worker(tmp_path, {}) as pid:

        def children() -> list[psutil.Process]:
            return [p for p in family(pid) if "worker.child" in _command(p)]

        wait_until(lambda: bool(children()), "no child was started")
        all_below = family(pid)
        psutil.Process(pid).kill()
        wait_until(lambda: not alive(all_below), "something outlived the worker", GONE_SECONDS)


def test_what_claudes_command_line_left_in_the_background_ends_with_a_killed_worker(
    tmp_path: Path,
) -> None:
    pytest.importorskip("claude_agent_sdk")
    definition = {"backend": "claude-agent-sdk", "model": MODEL, "tools": ["Bash"]}
    with messages_api(BLUE) as api:
        api.replies = (uses("Bash", command=LEFT_BEHIND + WAIT), BLUE)
        credentials = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
        with killed_worker(tmp_path, definition, HOME=str(tmp_path), **credentials) as pid:
            wait_until(lambda: len(waiting(pid)) == 5, "the shell started nothing", 60.0)
            all_below = family(pid)
            psutil.Process(pid).kill()
            wait_until(lambda: not alive(all_below), "something outlived the worker", GONE_SECONDS)


def test_a_child_whose_worker_died_before_it_could_ask_for_the_signal_ends_at_once() -> None:
    code = "import os; from worker.child.limits import end_with_worker as end; end(os.environ)"
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "layers/shared/python")])
    program = [sys.executable, "-c", f"{code}; print('lives')"]

    def run(mark: str) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": paths, WORKER_MARK: mark}
        return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)

    assert run(mark_of_worker()).stdout == "lives\n"
    assert run("1-2").returncode == -9
    end_with_worker({})  # by hand there is no worker
