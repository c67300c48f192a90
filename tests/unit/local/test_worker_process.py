"""The worker has started once it speaks."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from local.errors import CloudError
from local.home import Home
from local.processes import StartedProcess, identified
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
