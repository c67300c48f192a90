import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from switchyard_local.processes.process import (
    ends_in_time,
    find,
    has_child,
    identified,
    kill_strays,
    start_detached,
    stop,
    wait_until_ended,
)
from switchyard_local.processes.roster import Roster
from switchyard_local.processes.started import StartedProcess

WAIT_SECONDS = 30
SLEEP = "import time; time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1); {SLEEP}"
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', '{SLEEP}']); {SLEEP}"


def started(code: str, folder: Path) -> StartedProcess:
    return start_detached(
        [sys.executable, "-u", "-c", code],
        cwd=folder,
        environment=os.environ,
        log=folder / "log",
    )


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[StartedProcess]:
    process = started(SLEEP, tmp_path)
    yield process
    stop(process, grace_seconds=5)


def test_a_running_process_is_found(sleeper: StartedProcess) -> None:
    found = find(sleeper)
    assert found is not None
    assert found.pid == sleeper.pid


def test_a_process_without_children_has_no_child(sleeper: StartedProcess) -> None:
    assert not has_child(find(sleeper), "x")
    assert not has_child(None, "x")


def test_a_process_has_a_child_until_that_ends(tmp_path: Path) -> None:
    process = started(PARENT, tmp_path)
    parent = psutil.Process(process.pid)
    try:
        child = wait_for_child(process)
        command = child.cmdline()[-1]
        assert has_child(parent, command)
        assert not has_child(parent, "another")
        child.kill()
        wait_until(lambda: not has_child(parent, command), process)
    finally:
        stop(process, grace_seconds=5)
    assert not has_child(parent, command)


def test_a_process_id_in_use_again_is_not_mistaken_for_ours(sleeper: StartedProcess) -> None:
    assert find(replace(sleeper, created=sleeper.created - 3600)) is None


def test_another_program_with_our_old_process_id_is_left_alone(sleeper: StartedProcess) -> None:
    assert not stop(replace(sleeper, created=sleeper.created - 3600), grace_seconds=1)
    assert find(sleeper) is not None


def test_an_ended_process_is_gone_even_before_anybody_waited_for_it(tmp_path: Path) -> None:
    process = started("pass", tmp_path)
    psutil.Process(process.pid).wait(5)
    assert find(process) is None


def test_stopping_is_orderly_when_the_process_ends_by_itself(sleeper: StartedProcess) -> None:
    assert stop(sleeper, grace_seconds=5)
    assert find(sleeper) is None


def test_a_process_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    process = started(STUBBORN, tmp_path)
    wait_until(lambda: (tmp_path / "log").read_text() != "", process)
    assert not stop(process, grace_seconds=0.2)
    assert find(process) is None


def test_what_a_process_leaves_in_its_group_is_killed(tmp_path: Path) -> None:
    process = started(PARENT, tmp_path)
    child = wait_for_child(process)
    psutil.Process(process.pid).kill()
    stop(process, grace_seconds=1)
    assert wait_until_ended([child], timeout_seconds=WAIT_SECONDS)


def test_a_process_that_nobody_collects_has_ended_all_the_same(tmp_path: Path) -> None:
    process = started(PARENT, tmp_path)
    try:
        assert ends_in_time(wait_for_child(process), grace_seconds=WAIT_SECONDS)
    finally:
        stop(process, grace_seconds=5)


def test_strays_below_a_folder_are_killed(tmp_path: Path) -> None:
    inside = tmp_path / "output"
    inside.mkdir()
    stray, bystander = started(SLEEP, inside), started(SLEEP, tmp_path)
    kill_strays(inside)
    assert find(stray) is None
    assert stop(bystander, grace_seconds=5)


def test_the_roster_remembers_a_process_until_it_is_ended(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "processes.json")
    roster.enter("sleeper", started(SLEEP, tmp_path))
    assert find(roster.get("sleeper")) is not None
    assert roster.end("sleeper", grace_seconds=5)
    assert roster.get("sleeper") is None
    assert not (tmp_path / "processes.json").exists()


def test_a_damaged_roster_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "processes.json").write_text("{")
    assert Roster(tmp_path / "processes.json").get("sleeper") is None


def test_a_process_is_identified_by_its_start_as_well() -> None:
    assert identified(os.getpid()).created == psutil.Process().create_time()


def wait_until(happened: Callable[[], bool], process: StartedProcess) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not happened():
        assert find(process) is not None, "the process died"
        assert time.monotonic() < deadline, f"nothing happened for {WAIT_SECONDS} s"
        time.sleep(0.01)


def wait_for_child(process: StartedProcess) -> psutil.Process:
    parent = psutil.Process(process.pid)
    wait_until(lambda: parent.children() != [], process)
    return parent.children()[0]
