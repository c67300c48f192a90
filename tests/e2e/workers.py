"""Workers that a test starts, stops and kills by itself, on the deployed stacks."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from switchyard.adapters.system import SystemClock
from switchyard_local.cloud import LocalCloud
from switchyard_local.deployment.deployed import read_outputs, worker_container
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.environments import aws_environment, bare_environment
from switchyard_local.home import Home
from switchyard_local.processes.process import identified, kill_family, stop
from switchyard_local.source_tree import SOURCES
from switchyard_local.workers.environment import container_environment

STOP_SECONDS = 60
EXTENSION_SECONDS = 4
LEASE_MS = EXTENSION_SECONDS * 1500
SHORT_LEASE = {
    "VISIBILITY_EXTENSION_AMOUNT": str(EXTENSION_SECONDS),
    "VISIBILITY_EXTENSION_INTERVAL": "500",
    "WAIT_TIME_SECONDS": "1",
    "OFFLINE_DELAY_MS": "0",
}


class Worker:
    """One process `python -m switchyard_worker`, as the cloud would have started it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._log = folder / "worker.log"
        self._output = folder / "output"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "switchyard_worker"],
                cwd=SOURCES,
                env=environment | {"OUTPUT_FOLDER": str(self._output)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._process.pid, number)

    def exit_code(self) -> int:
        """Once it has ended."""
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the worker goes on and on:\n{self.log}") from None

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def close(self) -> None:
        """End it and whatever it left behind."""
        if self._process.poll() is None:
            kill_family(psutil.Process(self._process.pid))
            self._process.wait()
        kill_whatever_runs_below(self._output)


class Workers:
    """Starts workers; a later one is told apart by its log and its folder."""

    def __init__(self, cloud_folder: Path, folder: Path, port: int) -> None:
        self._folder = folder
        self._started: list[Worker] = []
        outputs = read_outputs(Home(cloud_folder).outputs_file)
        container = worker_container(Gateway(port), outputs.worker_task_definition)
        home = Home(folder)
        home.create()
        deployed = container_environment(container, {})
        self.long_poll_seconds = int(deployed["WAIT_TIME_SECONDS"])
        """The cloud's own worker's."""
        self._environment = {
            **bare_environment(home),
            **deployed,
            **aws_environment(port),
            **SHORT_LEASE,
        }

    def start(self, **environment: str) -> Worker:
        folder = self._folder / f"worker-{len(self._started)}"
        folder.mkdir()
        worker = Worker(folder, self._environment | environment)
        self._started.append(worker)
        return worker

    def close(self) -> None:
        for worker in self._started:
            worker.close()


def relieve(local: LocalCloud, cloud_folder: Path, folder: Path) -> Workers:
    """Let the cloud's own worker go: it would compete for every message."""
    status = local.status()
    assert status.worker_pid is not None
    stop(identified(status.worker_pid), grace_seconds=STOP_SECONDS)
    workers = Workers(cloud_folder, folder, status.port)
    # Its last long poll may outlive it, and would hide a message for the whole of its long lease.
    SystemClock().sleep(workers.long_poll_seconds)
    return workers


@contextmanager
def instead_of_its_own(local: LocalCloud, cloud_folder: Path, folder: Path) -> Iterator[Workers]:
    """The cloud's own worker rests meanwhile."""
    workers = relieve(local, cloud_folder, folder)
    try:
        yield workers
    finally:
        workers.close()
        local.up(print)


def kill_whatever_runs_below(folder: Path) -> None:
    for process in psutil.process_iter(["cwd"]):
        if process.info["cwd"] and Path(process.info["cwd"]).is_relative_to(folder):
            kill_family(process)


def until_gone(processes: list[psutil.Process], *, seconds: float = 5) -> list[psutil.Process]:
    """Wait, and return the processes that are left: the kernel carries a kill out later."""
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    while (left := [p for p in processes if _alive(p)]) and clock.monotonic() < deadline:
        clock.sleep(0.05)
    return left


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
