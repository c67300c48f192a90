"""Stopping a worker prints how many tasks it waits for, and for how long."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from switchyard_local.processes.process import TASK
from switchyard_local.workers.shutdown import end_workers

WORKER = """
import signal, subprocess, sys, time
children = [
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", sys.argv[1]])
    for _ in range(int(sys.argv[2]))
]
def end(*_):
    time.sleep(float(sys.argv[3]))
    for child in children:
        child.kill()
        child.wait()
    sys.exit()
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
time.sleep(60)
"""


@contextmanager
def a_worker(*, tasks: int, takes: float) -> Iterator[psutil.Process]:
    """A process that needs some time to end, with children as a worker has for its tasks."""
    command = [sys.executable, "-c", WORKER, TASK, str(tasks), str(takes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        process = psutil.Process(started.pid)
        family = [process, *process.children()]
        try:
            yield process
        finally:
            for member in filter(psutil.Process.is_running, family):
                member.kill()


def said_about(*workers: psutil.Process, stop_seconds: float = 120) -> list[str]:
    said: list[str] = []
    end_workers(workers, said.append, stop_seconds=stop_seconds, report_seconds=0.3)
    return said


def test_without_a_task_there_is_nothing_to_wait_for() -> None:
    with a_worker(tasks=0, takes=0) as worker:
        assert said_about(worker) == ["Stopping the worker: it runs no task"]
    assert said_about() == []


def test_running_tasks_are_counted_with_the_longest_time_and_a_way_to_hurry() -> None:
    with a_worker(tasks=1, takes=0) as one, a_worker(tasks=2, takes=0) as other:
        assert said_about(one, other)[0] == (
            "Stopping the worker: 3 tasks still run. It finishes them or hands them back within "
            "120 s. Ctrl-C hands them back at once, which costs no attempt"
        )


def test_progress_is_reported_until_it_has_ended() -> None:
    with a_worker(tasks=1, takes=1) as worker:
        first, *reports = said_about(worker)
    assert "1 task still runs. It finishes it or hands it back within 120 s" in first
    assert reports
    assert reports[0] == "1 task still runs: 120 s more at most. Ctrl-C hurries it"


HANDS_BACK_WHEN_ASKED_TWICE = """
import signal, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
print("ready", flush=True)
while len(asked) < 2:
    time.sleep(0.05)
print("handed back")
"""


def test_an_interrupted_stop_lets_the_worker_hand_back_its_tasks() -> None:
    said: list[str] = []

    def interrupt(sentence: str) -> None:
        said.append(sentence)
        if len(said) == 2:
            raise KeyboardInterrupt

    command = [sys.executable, "-c", HANDS_BACK_WHEN_ASKED_TWICE]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        with pytest.raises(KeyboardInterrupt):
            end_workers([psutil.Process(started.pid)], interrupt, report_seconds=0.3)
        started.kill()
        assert started.stdout.read() == b"handed back\n"
    assert said[-1] == "The worker hands back what it runs. Ctrl-C again kills it"


def test_a_worker_that_does_not_end_is_waited_for_no_longer_than_said() -> None:
    with a_worker(tasks=0, takes=30) as worker:
        assert said_about(worker, stop_seconds=1)[-1].startswith("The worker is ending: 0 s more")
        assert worker.is_running()
