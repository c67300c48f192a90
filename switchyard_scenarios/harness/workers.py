"""The worker processes of a scenario: started, signalled, killed, and gone in the end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from switchyard.clock import system_clock
from switchyard_local.environments import bare_environment
from switchyard_local.home import Home
from switchyard_local.processes.process import TASK, has_child, kill_family, kill_strays
from switchyard_local.source_tree import SOURCES
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.reporting.evidence import Evidence, Failed
from switchyard_scenarios.reporting.journal import Entry, entries_of

LOOK_SECONDS: Final = 0.25
STOP_SECONDS: Final = 30.0
EXTENSION_SECONDS: Final = 3
LEASE_SECONDS: Final = EXTENSION_SECONDS * 1.5
VISIBILITY_SECONDS: Final = 6
"""The visibility that follows from the lease, see `switchyard_worker/parent/receive/lease.py`."""
SHORT_LEASE: Final = {
    "VISIBILITY_EXTENSION_AMOUNT": str(EXTENSION_SECONDS),
    "VISIBILITY_EXTENSION_INTERVAL": "500",
    "WAIT_TIME_SECONDS": "1",
    "DELETE_FILES_AFTER_UPLOAD": "true",
}


class Worker:
    """A process `python -m switchyard_scenarios.worker`."""

    def __init__(
        self,
        name: str,
        folder: Path,
        environment: dict[str, str],
        *,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.name = name
        self._interrupted = interrupted
        self.journal_file = folder / f"{name}.jsonl"
        self._output = folder / name
        self._log = folder / f"{name}.log"
        own = {"OUTPUT_FOLDER": str(self._output), "JOURNAL_FILE": str(self.journal_file)}
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "switchyard_scenarios.worker"],
                cwd=SOURCES,
                env=environment | own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def busy(self) -> bool:
        return self.running and has_child(psutil.Process(self.pid), TASK)

    @property
    def killed(self) -> bool:
        return (self.exit_code or 0) < 0

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, negative if a signal ended it; `None` while it runs."""
        return self._process.poll()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        if self.running:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the worker as an outage would. Its children may go on for a while."""
        self.signal(signal.SIGKILL)
        self._process.wait()

    def wait(self, seconds: float = STOP_SECONDS) -> int:
        """Return the exit code, once the worker ended by itself. Raise `Failed` if it does not."""
        clock = system_clock()
        deadline = clock.monotonic() + seconds
        while clock.monotonic() < deadline:
            if self._interrupted():
                raise KeyboardInterrupt
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(LOOK_SECONDS)
        raise Failed(f"{self.name} did not end within {seconds:g} s")

    def stop(self) -> int:
        """Ask the worker to stop, and give it the time to finish."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def close(self) -> None:
        """End the worker in whatever state it is, with all processes that it left behind."""
        if self.running:
            kill_family(psutil.Process(self.pid))
            self._process.wait()
        kill_strays(self._output)


class Workers:
    def __init__(self, harness: Harness, folder: Path, evidence: Evidence) -> None:
        home = Home(folder)
        home.create()
        self._folder = folder
        self._evidence = evidence
        self._interrupted = harness.place.interrupted
        self._environment = bare_environment(home) | harness.environment | SHORT_LEASE
        if harness.planted:
            self._environment["PLANTED"] = harness.planted
        self.started: list[Worker] = []

    def start(self, **switches: str | int | float) -> Worker:
        """Start a worker with variables such as `CRASH_RATE=0.5` or `MAX_CONCURRENT_CLAUDE=1`."""
        name = f"worker-{len(self.started) + 1}"
        said = {variable: str(value) for variable, value in switches.items()}
        worker = Worker(name, self._folder, self._environment | said, interrupted=self._interrupted)
        self.started.append(worker)
        reported = " ".join(f"{variable}={value}" for variable, value in said.items())
        self._evidence.note(f"{name} starts", reported)
        return worker

    @property
    def running(self) -> int:
        return sum(worker.running for worker in self.started)

    def journal(self, *acts: str) -> list[Entry]:
        """Return what all workers did, in order; only these acts, if any are named."""
        entries = [
            entry
            for worker in self.started
            for entry in entries_of(worker.name, worker.journal_file)
            if not acts or entry.act in acts
        ]
        return sorted(entries, key=lambda entry: entry.at_ms)

    def stop_all(self) -> list[int]:
        """Ask all to stop before waiting for the first; return their exit codes."""
        for worker in self.started:
            worker.signal(signal.SIGTERM)
        return [worker.wait() for worker in self.started]

    def close(self) -> None:
        for worker in self.started:
            worker.close()
