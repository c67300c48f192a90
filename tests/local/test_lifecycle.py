"""The local cloud with the real stacks: MiniStack, the CDK command line and a worker process."""

import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from local.cloud import LocalCloud
from local.loopback import is_free
from switchyard.clock import system_clock

START_SECONDS = 180
STOP_SECONDS = 30
GONE_SECONDS = 5
UP = """
import sys
from pathlib import Path
from local.cloud import LocalCloud
LocalCloud(Path(sys.argv[1]), port=int(sys.argv[2])).up(lambda line: print(line, flush=True))
"""


@pytest.fixture(scope="module")
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free: int = listener.getsockname()[1]
        return free


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("local cloud")


def processes_below(folder: Path) -> list[str]:
    """Everything of ours names the folder in its arguments or environment, or works in it."""
    return [
        f"{process.pid} {' '.join(process.info['cmdline'] or [])}"
        for process in psutil.process_iter(["cmdline", "cwd", "environ"])
        if any(str(folder) in place for place in places_of(process))
    ]


def left_below(folder: Path) -> list[str]:
    """What is still there when everything that was killed has had the time to be gone."""
    clock = system_clock()
    deadline = clock.monotonic() + GONE_SECONDS
    while (left := processes_below(folder)) and clock.monotonic() < deadline:
        clock.sleep(0.05)
    return left


def places_of(process: psutil.Process) -> list[str]:
    facts = process.info
    output = (facts["environ"] or {}).get("OUTPUT_FOLDER", "")
    return [*(facts["cmdline"] or []), facts["cwd"] or "", output]


def wait_for_line(containing: str, process: subprocess.Popen[str]) -> None:
    """Raise if the process ends, or takes too long, without saying so."""
    assert process.stdout is not None
    overdue = threading.Timer(START_SECONDS, process.kill)
    overdue.start()
    try:
        said = next((line for line in process.stdout if containing in line), None)
    finally:
        overdue.cancel()
    assert said is not None, f"it never said {containing!r}"


def test_an_interrupted_start_leaves_nothing_behind(folder: Path, port: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", UP, str(folder), str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as starting:
        wait_for_line("Deploying", starting)
        starting.send_signal(signal.SIGINT)
        starting.wait(STOP_SECONDS)
    assert starting.returncode != 0
    assert left_below(folder) == []
    assert is_free(port)


def test_it_starts_serves_heals_stops_and_keeps_its_data(folder: Path, port: int) -> None:
    cloud = LocalCloud(folder, port=port)
    try:
        first = cloud.up(print)
        started = cloud.status()
        assert started.healthy
        assert any("-m worker" in process for process in processes_below(folder))

        assert cloud.up(print) == first
        assert cloud.status() == started

        assert started.worker_pid is not None
        psutil.Process(started.worker_pid).kill()
        cloud.up(print)
        healed = cloud.status()
        assert healed.healthy
        assert healed.ministack_pid == started.ministack_pid

        cloud.down(print)
        assert not cloud.status().running
        assert left_below(folder) == []

        said: list[str] = []
        assert cloud.up(said.append) == first
        assert not any("Deploying" in line for line in said)
        assert cloud.status().healthy
    finally:
        cloud.down(print)
    assert left_below(folder) == []
