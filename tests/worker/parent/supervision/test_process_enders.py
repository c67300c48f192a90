"""A worker that is killed takes with it all that runs for its tasks, however deep and detached."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from switchyard_worker.boundary import WORKER_MARK, mark_of_worker
from switchyard_worker.child.limits import end_with_worker
from switchyard_worker.parent.supervision import end_orphans
from switchyard_worker.parent.supervision.process_enders import OrphanWatcher
from tests.fakes.servers.messages_api import messages_api
from tests.fakes.servers.messages_api_replies import uses
from tests.worker.parent.claude.test_access import BLUE, KEY, MODEL
from tests.worker.test_main import ENVIRONMENT, REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")

GONE_SECONDS = 5.0
WAIT = "tail --follow /dev/null"
LEFT_BEHIND = f"{WAIT} & setsid {WAIT} & (setsid sh -c '{WAIT} & {WAIT}' &); "


@contextmanager
def killed_worker(folder: Path, definition: Mapping[str, object], **more: str) -> Iterator[int]:
    """Yield the worker's process id."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.worker.parent.supervision.killed_worker",
            folder,
            json.dumps(definition),
        ],
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
            return [p for p in family(pid) if "switchyard_worker.child" in _command(p)]

        wait_until(lambda: bool(children()), "no child was started")
        all_below = family(pid)
        assert any(end_orphans.__file__ in _command(process) for process in all_below)
        psutil.Process(pid).kill()
        wait_until(lambda: not alive(all_below), "something outlived the worker", GONE_SECONDS)


PARENT = """
import os, subprocess, sys
from switchyard_worker.boundary import WORKER_MARK, mark_of_worker
from switchyard_worker.parent.supervision.process_enders import OrphanWatcher
{before}
marked = dict(os.environ) | {{WORKER_MARK: mark_of_worker()}}
child = subprocess.Popen({command}, env=marked, start_new_session=True, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""
ASKS_FOR_THE_SIGNAL = (
    "import os, time; from switchyard_worker.child.limits import end_with_worker; "
    "end_with_worker(os.environ); print('ready', flush=True); time.sleep(60)"
)


@pytest.mark.parametrize(
    ("before", "command"),
    [
        ("", f"[sys.executable, '-c', {ASKS_FOR_THE_SIGNAL!r}]"),
        ("watcher = OrphanWatcher({}); watcher.ensure()", "['sh', '-c', 'echo ready; sleep 60']"),
    ],
    ids=["the parent-death signal", "the watcher"],
)
def test_each_of_the_two_ends_a_process_of_a_killed_worker_alone(before: str, command: str) -> None:
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "layers/shared/python")])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(before=before, command=command)],
        env={"PYTHONPATH": paths, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    left = psutil.Process(int(parent.stdout.readline()))
    try:
        parent.kill()
        parent.wait()
        wait_until(lambda: not alive([left]), "it outlived its worker", GONE_SECONDS)
    finally:
        parent.stdout.close()
        if left.is_running():
            left.kill()


def test_a_watcher_that_was_ended_is_started_again() -> None:
    watcher = OrphanWatcher({})
    try:
        watcher.ensure()
        first = watcher.pid
        assert first
        watcher.ensure()
        assert watcher.pid == first
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: not alive([psutil.Process(first)]), "it cannot be killed")
        watcher.ensure()
        assert watcher.pid not in {None, first}
    finally:
        watcher.close()
        assert watcher._process
        watcher._process.wait()


@pytest.mark.long
def test_what_claudes_command_line_left_in_the_background_ends_with_a_killed_worker(
    tmp_path: Path,
) -> None:
    pytest.importorskip("switchyard_worker.agents.sdk")
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
    imported = "import os; from switchyard_worker.child.limits import end_with_worker"
    code = f"{imported}; end_with_worker(os.environ)"
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "layers/shared/python")])
    program = [sys.executable, "-c", f"{code}; print('lives')"]

    def run(mark: str) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": paths, WORKER_MARK: mark}
        return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)

    assert run(mark_of_worker()).stdout == "lives\n"
    assert run("1-2").returncode == -9
    end_with_worker({})  # by hand there is no worker
