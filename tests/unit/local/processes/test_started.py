"""Whether a process that a command started still runs, told without psutil."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from switchyard_local.processes.process import identified
from switchyard_local.processes.started import StartedProcess, still_runs


@pytest.fixture(params=["of this system", "of a system without /proc"])
def proc(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path("/proc") if request.param == "of this system" else tmp_path


def test_a_process_that_runs_is_found(proc: Path) -> None:
    assert still_runs(identified(os.getpid()), proc=proc)


def test_nothing_started_does_not_run(proc: Path) -> None:
    assert not still_runs(None, proc=proc)


def test_another_process_with_the_same_id_is_not_taken_for_it(proc: Path) -> None:
    own = identified(os.getpid())
    assert not still_runs(replace(own, created=own.created - 3600), proc=proc)


def test_a_process_that_ended_does_not_run_before_and_after_it_is_collected(proc: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        known = identified(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not still_runs(known, proc=proc)
    assert not still_runs(known, proc=proc)


def test_a_name_with_brackets_and_spaces_is_read(tmp_path: Path) -> None:
    after_the_name = " ".join(["S", *["0"] * 18, "200"])
    (tmp_path / "stat").write_text("cpu 1 2 3\nbtime 1000\n")
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text(f"7 (a) Z (b) {after_the_name} 0\n")
    created = 1000 + 200 / os.sysconf("SC_CLK_TCK")
    assert still_runs(StartedProcess(7, created), proc=tmp_path)
