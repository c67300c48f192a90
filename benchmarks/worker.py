"""Measures what a task costs: offline tasks through a real worker process, on its own MiniStack.

The last line is JSON. `calls_per_task` are requests to AWS from receive to delete, heartbeats
apart; `bytes_per_task` their bodies, both ways; `cpu_ms_per_task` the worker's and its children's.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.harness import BenchHarness
from benchmarks.output import say
from switchyard.adapters.system import SystemClock
from switchyard.domain.states import TaskState
from tests.contract.clouds import on_ministack

ROOT: Final = Path(__file__).parents[1]
PATIENCE_SECONDS: Final = 900.0
IDLE_SECONDS: Final = 2.0
NOT_A_TASKS: Final = {"ChangeMessageVisibility", "empty ReceiveMessage"}

clock = SystemClock()


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as name, on_ministack(Path(name) / "cloud") as cloud:
        harness = BenchHarness(cloud)
        figures = measure(harness, count, Path(name))
    say(json.dumps(figures))
    return 0


def measure(harness: BenchHarness, count: int, folder: Path) -> dict[str, Any]:
    report = folder / "requests.json"
    with worker(harness.environment, folder, report) as process:
        wait_until_idle(process)
        idle_rss, before = process.memory_info().rss, cpu_seconds(process)
        harness.submit(count)
        began = clock.monotonic()
        wait_for(lambda: harness.left_in_queue() == 0)
        took, cpu = clock.monotonic() - began, cpu_seconds(process) - before
    requests = json.loads(report.read_text())
    tasks = harness.tasks()
    completed = sum(task.state is TaskState.COMPLETED for task in tasks)
    if completed < count:
        raise SystemExit(f"only {completed} of {count} tasks completed")
    say(f"{count} tasks in {took:.1f} s, {harness.files() / count:g} files each")
    for operation, calls in sorted(requests["calls"].items()):
        say(f"  {calls / count:7.3f}  {operation}")
    of_tasks = sum(n for name, n in requests["calls"].items() if name not in NOT_A_TASKS)
    return {
        "tasks": count,
        "calls_per_task": round(of_tasks / count, 2),
        "cpu_ms_per_task": round(cpu * 1000 / count, 1),
        "bytes_per_task": round(requests["bytes"] / count),
        "duplicates": sum(task.fence for task in tasks) - count,
        "idle_rss_mb": round(idle_rss / 2**20, 1),
    }


@contextmanager
def worker(
    harness_environment: Mapping[str, str], folder: Path, report: Path
) -> Iterator[psutil.Process]:
    """Run a worker and end it in order, so that its report is written."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "layers/shared/python")]),
        "OUTPUT_FOLDER": str(folder / "output"),
        **harness_environment,
    }
    command = [sys.executable, "-m", "benchmarks.measured_worker", str(report)]
    log = folder / "worker.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait()
    if code:
        raise SystemExit(f"the worker ended with code {code}:\n{log.read_text()[-2_000:]}")


def wait_until_idle(process: psutil.Process) -> None:
    """Wait until the process takes no more time than a long poll does."""
    spent = -1.0
    while cpu_seconds(process) > spent + 0.05:
        spent = cpu_seconds(process)
        clock.sleep(IDLE_SECONDS)


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = clock.monotonic() + PATIENCE_SECONDS
    while not holds():
        if clock.monotonic() > deadline:
            raise SystemExit(f"not done within {PATIENCE_SECONDS:g} s")
        clock.sleep(0.5)


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 500))
