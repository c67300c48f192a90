"""The worker has started once it speaks, and is stopped with all that work beside it."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from switchyard.testing import ManualClock
from switchyard_local.errors import CloudError
from switchyard_local.home import Home
from switchyard_local.processes.process import (
    find,
    identified,
    start_detached,
)
from switchyard_local.processes.roster import Roster
from switchyard_local.processes.started import StartedProcess
from switchyard_local.workers.process import ROLE, WorkerProcess


@pytest.fixture
def worker(tmp_path: Path) -> WorkerProcess:
    home = Home(tmp_path)
    home.create()
    worker = WorkerProcess(tmp_path, home, 4580, clock=ManualClock(0), extra_environment={})
    worker.log.touch()
    return worker


def running() -> StartedProcess:
    return identified(os.getpid())


def ended() -> StartedProcess:
    return replace(running(), created=0.0)


def test_a_worker_that_speaks_has_started(worker: WorkerProcess, tmp_path: Path) -> None:
    Roster(Home(tmp_path).processes_file).enter(ROLE, running())
    worker.log.write_text("polling")
    worker.wait_until_it_speaks()


@pytest.mark.parametrize(
    ("process", "emitted"), [(running, "did not start"), (ended, "ended right after its start")]
)
def test_a_worker_that_does_not_speak_has_not(
    process: Callable[[], StartedProcess], emitted: str, worker: WorkerProcess, tmp_path: Path
) -> None:
    Roster(Home(tmp_path).processes_file).enter(ROLE, process())
    with pytest.raises(CloudError, match=emitted):
        worker.wait_until_it_speaks()


@pytest.fixture
def sleeping(tmp_path: Path) -> Iterator[Callable[[str], StartedProcess]]:
    """Processes in roles, for as long as they are let."""
    roster = Roster(Home(tmp_path).processes_file)

    def enter(role: str) -> StartedProcess:
        code = "import time; time.sleep(60)"
        command, log = [sys.executable, "-c", code], tmp_path / f"{role}.log"
        started = start_detached(command, cwd=tmp_path, environment=os.environ, log=log)
        roster.enter(role, started)
        return started

    yield enter
    for role in roster.roles():
        roster.end(role, grace_seconds=0)


def test_the_worker_is_stopped_with_those_beside_it_and_nothing_else(
    worker: WorkerProcess, sleeping: Callable[[str], StartedProcess]
) -> None:
    workers, other = [sleeping(ROLE), sleeping("worker-2")], sleeping("workerless")

    worker.stop(print)

    assert [find(process) for process in workers] == [None, None]
    assert find(other) is not None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_that_is_told_to_end_does_not_run(
    number: signal.Signals, worker: WorkerProcess, sleeping: Callable[[str], StartedProcess]
) -> None:
    process = find(sleeping(ROLE))
    assert process is not None
    assert worker.running
    assert not worker.busy

    worker.signal(number)
    process.wait(5)

    assert not worker.running
    worker.signal(number)


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("import os; os.kill(os.getpid(), 9)", -9), ("", 0), ("raise SystemExit(3)", 3)],
)
def test_how_a_worker_ended_is_known_to_the_process_that_started_it(
    code: str, exit_code: int, worker: WorkerProcess, tmp_path: Path
) -> None:
    command, log = [sys.executable, "-c", code], tmp_path / "log"
    started = start_detached(command, cwd=tmp_path, environment={}, log=log)
    Roster(Home(tmp_path).processes_file).enter(ROLE, started)
    os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)
    assert worker.exit_code == exit_code


def test_of_a_worker_that_another_process_started_nothing_is_known(
    worker: WorkerProcess, tmp_path: Path
) -> None:
    assert worker.exit_code is None
    Roster(Home(tmp_path).processes_file).enter(ROLE, ended())
    assert worker.exit_code is None
