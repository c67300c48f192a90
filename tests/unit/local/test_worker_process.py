"""The worker has started once it speaks, and is stopped with all that work beside it."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from local.errors import CloudError
from local.home import Home
from local.processes import StartedProcess, find, identified, start_detached
from local.roster import Roster
from local.worker_process import ROLE, WorkerProcess
from switchyard.adapters.memory import ManualClock


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
    ("process", "told"), [(running, "did not start"), (ended, "ended right after its start")]
)
def test_a_worker_that_does_not_speak_has_not(
    process: Callable[[], StartedProcess], told: str, worker: WorkerProcess, tmp_path: Path
) -> None:
    Roster(Home(tmp_path).processes_file).enter(ROLE, process())
    with pytest.raises(CloudError, match=told):
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

    worker.stop()

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
