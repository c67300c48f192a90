import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from switchyard_local.errors import CloudError
from switchyard_local.processes.command import running
from switchyard_local.processes.roster import Roster
from switchyard_local.processes.started import StartedProcess

INTERRUPTED_WHILE_RUNNING = """
import os, sys
from pathlib import Path
from switchyard_local.processes.command import running
from switchyard_local.interrupts import signals_interrupt
from switchyard_local.processes.roster import Roster

folder = Path(sys.argv[1])
sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
with signals_interrupt(), running(
    "sleeper", sleeper, cwd=folder, environment=os.environ, log=folder / "log",
    roster=Roster(folder / "processes.json"),
) as command:
    print(command.process.pid, flush=True)
    command.finish()
"""


def run(code: str, folder: Path) -> None:
    command = [sys.executable, "-c", code]
    roster = Roster(folder / "processes.json")
    log = folder / "log"
    with running(
        "the command", command, cwd=folder, environment=os.environ, log=log, roster=roster
    ) as started:
        started.finish()


def test_a_failure_shows_the_end_of_the_log_and_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(CloudError) as error:
        run("print('the reason'); raise SystemExit(3)", tmp_path)
    assert "the command failed." in str(error.value)
    assert "the reason" in str(error.value)
    assert str(tmp_path / "log") in str(error.value)


def test_a_success_leaves_nothing_on_the_roster(tmp_path: Path) -> None:
    run("pass", tmp_path)
    assert not (tmp_path / "processes.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_ends_the_command_as_well(tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_WHILE_RUNNING, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as parent:
        assert parent.stdout is not None
        command = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(number)
        parent.wait(10)
    command.wait(5)
    assert not (tmp_path / "processes.json").exists()


def test_an_interrupt_during_the_start_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the process runs already and nobody has written down that it does."""
    entered: list[int] = []

    def interrupted(roster: Roster, _name: str, started: StartedProcess) -> None:
        signal.raise_signal(signal.SIGINT)
        entered.append(started.pid)

    monkeypatch.setattr(Roster, "enter", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("import time; time.sleep(60)", tmp_path)
    assert not psutil.pid_exists(entered[0])
