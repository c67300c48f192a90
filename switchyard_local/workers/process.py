"""Workers as background processes; MiniStack records ECS services but runs nothing."""

import hashlib
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from switchyard.ports import Clock
from switchyard_local.environments import aws_environment, bare_environment
from switchyard_local.errors import failure_with_log
from switchyard_local.home import Home
from switchyard_local.interrupts import held_back
from switchyard_local.processes.process import (
    TASK,
    find,
    has_child,
    kill_family,
    kill_strays,
    start_detached,
)
from switchyard_local.processes.roster import Roster
from switchyard_local.say import Say
from switchyard_local.sources import RUN_BY_THE_WORKER, fingerprint
from switchyard_local.workers.shutdown import end_workers

ROLE = "worker"
START_SECONDS = 30.0


class WorkerProcess:
    def __init__(
        self,
        root: Path,
        home: Home,
        port: int,
        *,
        clock: Clock,
        extra_environment: Mapping[str, str],
        role: str = ROLE,
    ) -> None:
        """Name the worker by `role`: a supervisor starts several beside the first."""
        self.name = role
        self._root = root
        self._home = home
        self._port = port
        self._clock = clock
        self._extra_environment = extra_environment
        self._roster = Roster(home.processes_file)

    @property
    def log(self) -> Path:
        return self._home.log(self.name)

    @property
    def pid(self) -> int | None:
        process = find(self._roster.get(self.name))
        return process.pid if process else None

    @property
    def running(self) -> bool:
        return self.pid is not None

    @property
    def busy(self) -> bool:
        """Whether it runs a task: each task is a process below the worker's, beside its helpers."""
        return has_child(find(self._roster.get(self.name)), TASK)

    @property
    def exit_code(self) -> int | None:
        """Return how it ended, -9 for signal 9. Only the process that started it ever knows, and
        only once: else None."""
        started = self._roster.get(self.name)
        if started is None:
            return None
        try:
            pid, status = os.waitpid(started.pid, os.WNOHANG)
        except ChildProcessError:
            return None
        return os.waitstatus_to_exitcode(status) if pid else None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a kill ends the worker's children as well."""
        process = find(self._roster.get(self.name))
        if process is None:
            return
        if number is signal.SIGKILL:
            kill_family(process)
        else:
            process.send_signal(number)

    def serves(self, deployed: Mapping[str, str]) -> bool:
        """Does it run, with today's code and the environment now deployed?"""
        started = self._roster.get(self.name)
        return (
            started is not None
            and find(started) is not None
            and started.signature == self._signature(deployed)
        )

    def start(self, deployed: Mapping[str, str]) -> None:
        with held_back():
            started = start_detached(
                [sys.executable, "-m", "switchyard_worker"],
                cwd=self._root,
                environment=self.environment(deployed),
                log=self.log,
                signature=self._signature(deployed),
            )
            self._roster.enter(self.name, started)

    def wait_until_it_speaks(self) -> None:
        """Raise if it ends, or does nothing for long, instead of writing its first log line."""
        deadline = self._clock.monotonic() + START_SECONDS
        while self.pid is not None and self.log.stat().st_size == 0:
            if self._clock.monotonic() > deadline:
                raise failure_with_log("The worker did not start.", self.log)
            self._clock.sleep(0.05)
        if self.pid is None:
            raise failure_with_log("The worker ended right after its start.", self.log)

    def stop(self, say: Say) -> None:
        """End it with all that were started beside it, at once. Being interrupted hurries it."""
        roles = list(filter(is_worker, self._roster.roles()))
        with ExitStack() as in_any_case:
            in_any_case.callback(kill_strays, self._home.worker_output)
            for role in roles:
                in_any_case.callback(self._roster.end, role, grace_seconds=0)
            processes = [find(self._roster.get(role)) for role in roles]
            end_workers(list(filter(None, processes)), say)

    def environment(self, deployed: Mapping[str, str]) -> dict[str, str]:
        return {
            **bare_environment(self._home),
            **deployed,
            **aws_environment(self._port),
            "PAUSE_CHECK_SECONDS": "1",  # reads cost nothing here
            "OUTPUT_FOLDER": str(self._home.worker_output),  # deployed: a folder in the container
            **self._extra_environment,
        }

    def _signature(self, deployed: Mapping[str, str]) -> str:
        """A digest, since it is stored and the environment holds credentials."""
        environment = repr(sorted(self.environment(deployed).items()))
        digest = hashlib.sha256(environment.encode()).hexdigest()
        return fingerprint(self._root, RUN_BY_THE_WORKER, digest)


def is_worker(role: str) -> bool:
    return role == ROLE or role.startswith(f"{ROLE}-")
