"""Real worker processes with wrong wall clocks, on a MiniStack that their tests share."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import httpx
import psutil
import pytest

from benchmarks.harness import BenchHarness
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock
from switchyard.bootstrap.sweep import sweepers
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.settings import SweeperSettings
from switchyard.usecases.dispatching.sweep import Sweeper
from switchyard_local.processes.process import kill_family
from tests.contract.clouds import Cloud
from tests.worker.skewed_worker import fork_worker

ROOT: Final = Path(__file__).parents[2]
LEASE_PER_EXTENSION: Final = 1.5
USUAL_LEASE_SECONDS: Final = 45.0
LOOK_SECONDS: Final = 0.5
BEATS_PER_LEASE: Final = 20
POLL_SECONDS: Final = 1
STOP_SECONDS: Final = 60
PATIENCE_SECONDS: Final = 90.0
SLOTS: Final = 8

clock = SystemClock()


class SkewedWorker:
    """One process, `ahead_seconds` ahead of the real time."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str],
        ahead_seconds: float,
        output_folder: Path | None = None,
    ) -> None:
        self.output_folder = output_folder or folder / "output"
        self._environment = environment | {"OUTPUT_FOLDER": str(self.output_folder)}
        self._log = folder / "worker.log"
        self._clock_file = folder / "ahead"
        self.set_clock(ahead_seconds)
        self._log.touch()
        self.process = fork_worker(self._clock_file, self._environment, self._log)
        assert self.process.pid is not None
        self.pid = self.process.pid

    @property
    def log(self) -> str:
        return self._log.read_text()

    def wait_until_started(self) -> None:
        deadline = clock.monotonic() + PATIENCE_SECONDS
        while "worker started" not in self.log:
            assert clock.monotonic() < deadline, self.log
            assert self.process.is_alive(), self.log
            clock.sleep(0.1)

    def health_check(self) -> int:
        """Return the exit code of the platform's health check on this worker's machine."""
        command = [sys.executable, "-m", "switchyard_worker.health"]
        return subprocess.run(
            command, cwd=ROOT, env=self._environment, capture_output=True, check=False
        ).returncode

    def set_clock(self, ahead_seconds: float) -> None:
        mode = "r+" if self._clock_file.exists() else "w"
        with self._clock_file.open(mode) as file:
            file.write(f"{ahead_seconds:20.6f}")

    def ask_to_stop(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        """Kill it with its children, as when its machine disappears."""
        if self.process.is_alive():
            kill_family(psutil.Process(self.pid))
            self.process.join()

    def exit_code(self) -> int | None:
        """Wait until it has ended, but not for ever."""
        self.process.join(STOP_SECONDS)
        return self.process.exitcode


@dataclass
class ClockStage:
    harness: BenchHarness
    folder: Path
    workers: list[SkewedWorker] = field(default_factory=list)

    def start(
        self,
        *,
        ahead_seconds: float = 0.0,
        task_seconds: float = 0.0,
        lease_seconds: float = USUAL_LEASE_SECONDS,
        output_folder: Path | None = None,
        slots: int = SLOTS,
    ) -> SkewedWorker:
        folder = self.folder / f"worker-{len(self.workers)}"
        folder.mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "layers/shared/python")]),
            **self.harness.environment,
            "VISIBILITY_EXTENSION_AMOUNT": str(round(lease_seconds / LEASE_PER_EXTENSION)),
            "VISIBILITY_EXTENSION_INTERVAL": str(round(1000 * lease_seconds / BEATS_PER_LEASE)),
            "WAIT_TIME_SECONDS": str(POLL_SECONDS),
            "MAX_CONCURRENT_CLAUDE": str(slots),
            "STOP_GRACE_SECONDS": "1",
            "OFFLINE_DELAY_MS": str(round(1000 * task_seconds)),
        }
        worker = SkewedWorker(folder, environment, ahead_seconds, output_folder)
        self.workers.append(worker)
        return worker

    def sweep(self) -> None:
        """Run the deployed sweeper in this process, whose clock is right."""
        for _nudge in self._sweeper.sweep(at_most=100, seconds=5):
            pass

    @cached_property
    def _sweeper(self) -> Sweeper:
        sqs = self.harness.cloud.client("sqs")
        elsewhere = sqs.create_queue(QueueName="elsewhere")["QueueUrl"]
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.harness.environment.items():
                patch.setenv(name, value)
            settings = SweeperSettings(
                dispatch_queue_url=elsewhere,
                job_queue_url=elsewhere,
                alerts_queue_url=elsewhere,
            )
            return sweepers(settings).overdue

    def workers_that_say_they_are_sick(self) -> int:
        """Count them in the state table, as the health watcher does."""
        table = DynamoDbTable(
            self.harness.cloud.client("dynamodb"), self.harness.environment["STATE_TABLE_NAME"]
        )
        return sum(worker.sick is not None for worker in DynamoDbPresence(table).all())

    def until(
        self,
        holds: Callable[[Sequence[Task]], bool],
        *,
        meanwhile: Callable[[], None] = lambda: None,
        every_seconds: float = LOOK_SECONDS,
    ) -> float:
        """Wait until it holds for the tasks; return how many seconds that took."""
        began = clock.monotonic()
        while not holds(self.harness.tasks()):
            assert clock.monotonic() < began + PATIENCE_SECONDS, self.story
            meanwhile()
            clock.sleep(every_seconds)
        return clock.monotonic() - began

    @property
    def story(self) -> str:
        """What the workers and the tasks say, for a test that fails."""
        outcomes = [str((facts(task), task.outcome)) for task in self.harness.tasks()]
        return "\n".join([*outcomes, *(worker.log[-5_000:] for worker in self.workers)])

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()


@contextmanager
def a_stage(cloud: Cloud, folder: Path) -> Iterator[ClockStage]:
    """A stage for one test: nothing is left of the one before."""
    endpoint = cloud.client("sqs").meta.endpoint_url
    reset = f"{endpoint}/_ministack/reset"
    httpx.post(reset, timeout=PATIENCE_SECONDS, verify=False).raise_for_status()
    stage = ClockStage(BenchHarness(cloud), folder)
    try:
        yield stage
    finally:
        stage.close()


def facts(task: Task) -> tuple[str, TaskState, int, int, str | None]:
    return task.ref.task_id, task.state, task.fence, task.attempt, task.last_error


def all_are(state: TaskState) -> Callable[[Sequence[Task]], bool]:
    return lambda tasks: all(task.state is state for task in tasks)


def all_settled(tasks: Sequence[Task]) -> bool:
    return all(task.state.settled for task in tasks)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = clock.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert clock.monotonic() < deadline
        clock.sleep(LOOK_SECONDS)
