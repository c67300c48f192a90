"""The worker as a process: its configuration, its signals, its exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from switchyard_local.processes.process import TASK
from switchyard_worker.__main__ import MISCONFIGURED, main

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": os.pathsep.join(["layers/shared/python", "."]),
    "STAGE": "test",
    "EVENTBRIDGE_BUS_NAME": "bus",
    "STATE_TABLE_NAME": "state",
    "TASK_DEFINITIONS_TABLE": "definitions",
    "SQS_QUEUE_URL": "queue",
    "S3_BUCKET": "bucket",
    "AGENT_BACKEND": "offline",
    "VISIBILITY_EXTENSION_INTERVAL": "300",
    "VISIBILITY_EXTENSION_AMOUNT": "2",
    "STOP_GRACE_SECONDS": "1",
}
LONG_GRACE = {"STOP_GRACE_SECONDS": "60"}
REPOSITORY = Path(__file__).parents[2]


class Worker:
    def __init__(
        self, folder: Path, *, delay_ms: int, tasks: int, environment: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.worker.in_memory", folder, str(delay_ms), str(tasks)],
            cwd=REPOSITORY,
            env={**ENVIRONMENT, "OUTPUT_FOLDER": str(folder), **environment},
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, text: str) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if text in line:
                return
        pytest.fail(f"the worker ended before it said {text!r}")

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def exit_code(self) -> int:
        self._process.communicate(timeout=15)
        return self._process.returncode

    def report(self) -> Any:
        return json.loads((self._folder / "report.json").read_text())

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Any]:
    tmp_path.joinpath("output").mkdir()
    started: list[Worker] = []

    def start(*, delay_ms: int, tasks: int, environment: Mapping[str, str] = ENVIRONMENT) -> Worker:
        folder = tmp_path / "output"
        started.append(Worker(folder, delay_ms=delay_ms, tasks=tasks, environment=environment))
        return started[-1]

    yield start
    for worker in started:
        worker.close()


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)]
)
def test_a_signal_mid_task_hands_the_task_back(workers: Any, number: signal.Signals) -> None:
    worker = workers(delay_ms=60_000, tasks=2)
    worker.wait_for("sdk_query")
    children = worker.children()

    worker.signal(number)

    assert worker.exit_code() == 0
    assert worker.report()["states"] == {"t0": "QUEUED", "t1": "QUEUED"}
    assert worker.report()["told"].count("Task Released") == 2
    assert worker.report()["waiting"] == 2
    assert _all_end(children)


def test_a_second_signal_hands_the_task_back_before_the_grace_is_over(workers: Any) -> None:
    worker = workers(delay_ms=60_000, tasks=1, environment=LONG_GRACE)
    worker.wait_for("sdk_query")

    worker.signal(signal.SIGTERM)
    time.sleep(0.2)
    worker.signal(signal.SIGTERM)

    assert worker.exit_code() == 0
    assert worker.report()["states"] == {"t0": "QUEUED"}
    assert worker.report()["told"].count("Task Released") == 1


def test_a_third_signal_ends_the_worker_and_its_children_at_once(workers: Any) -> None:
    worker = workers(delay_ms=60_000, tasks=1, environment=LONG_GRACE)
    worker.wait_for("sdk_query")
    children = worker.children()
    assert children
    for child in children:
        if TASK in child.cmdline():
            child.suspend()  # it is killed after 5 s, so handing it back takes so long

    for _ in range(3):
        worker.signal(signal.SIGTERM)
        time.sleep(0.2)

    assert worker.exit_code() == 1
    assert _all_end(children)


@pytest.mark.long
def test_an_idle_worker_stops_with_success(workers: Any) -> None:
    worker = workers(delay_ms=0, tasks=1)
    worker.wait_for("task is settled")

    worker.signal(signal.SIGTERM)

    assert worker.exit_code() == 0
    assert worker.report()["states"] == {"t0": "COMPLETED"}
    assert worker.report()["words"] == [3, "worker-1"]
    assert worker.report()["backends"] == ["offline"]


def test_wrong_variables_are_named_one_sentence_each_and_without_a_traceback() -> None:
    wrong = {**ENVIRONMENT, "MAX_CONCURRENT_CLAUDE": "many"}
    del wrong["SQS_QUEUE_URL"]

    ended = _start(wrong)

    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        "SQS_QUEUE_URL is not set.",
        "MAX_CONCURRENT_CLAUDE is 'many': Input should be a valid integer, unable to parse string "
        "as an integer.",
    ]


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **variables: str
) -> str:
    """Return why a worker does not start in this process."""
    for name, value in (ENVIRONMENT | variables).items():
        monkeypatch.setenv(name, value)
    assert main() == MISCONFIGURED
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_a_lease_that_no_beat_can_keep_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = refused(monkeypatch, capsys, VISIBILITY_EXTENSION_INTERVAL="9000")

    assert problem.startswith("VISIBILITY_EXTENSION_INTERVAL: 9000 ms is too long")


def test_a_folder_that_cannot_be_written_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch(mode=0o640)
    owner = f"{os.geteuid()}:{file.stat().st_gid}"

    problem = refused(monkeypatch, capsys, OUTPUT_FOLDER=str(file / "output"))

    assert problem.splitlines() == [
        f"OUTPUT_FOLDER is '{file}/output', where user {os.geteuid()} cannot write "
        f"(Not a directory): {file} belongs to {owner} and has the mode 0640; "
        "remove the file in its place, or set OUTPUT_FOLDER to another folder."
    ]


def test_a_bug_is_logged_as_one_line_and_ends_the_process() -> None:
    imported = "import sys; from switchyard_worker.__main__ import main"
    code = f"{imported}; sys.exit(main(connect=lambda _: 1 / 0))"

    ended = _start(ENVIRONMENT, "-c", code)

    assert (ended.returncode, ended.stderr) == (1, "")
    (line,) = ended.stdout.splitlines()
    assert json.loads(line)["level"] == "CRITICAL"
    assert "ZeroDivisionError" in json.loads(line)["error"]


def _all_end(processes: list[psutil.Process]) -> bool:
    """A kill is sent at once; the kernel carries it out when it gets to it."""
    deadline = time.monotonic() + 5
    while any(map(_alive, processes)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _start(environment: dict[str, str], *program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *(program or ("-m", "switchyard_worker"))],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
