"""How the command starts: its version, its help and Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from switchyard_cli.app import command_of, function_of
from switchyard_cli.command_table import COMMANDS, Entry, Group
from tests.unit.cli.conftest import Switchyard

WAITS: Final = (
    "import sys, time; from switchyard_cli.main import main; "
    "from switchyard_cli import app; app.run = lambda: (print('go', flush=True), "
    "time.sleep(60)); main()"
)


INTERRUPTED_IN_A_TEXT: Final = """
from switchyard_cli import app, main
def run():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        raise SystemExit(main.INTERRUPTED)
app.run = run
main.main()
"""


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_table_says_what_the_docstring_says(entry: Entry | Group) -> None:
    documented = entry.target if isinstance(entry, Entry) else entry.callback

    if documented:
        doc = function_of(documented).__doc__ or ""
        assert " ".join(doc.split("\n\n")[0].split()) == entry.help
    assert command_of(entry).name == entry.name


@pytest.mark.slow
def test_an_interruption_while_a_text_is_executed_exits_with_its_code_too(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IN_A_TEXT)
    found = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    assert _python("-m", "interrupted", PYTHONPATH=found).returncode == 130


def test_the_version_is_that_of_the_package(switchyard: Switchyard) -> None:
    result = switchyard("--version")

    assert re.fullmatch(r"switchyard \d+\.\d+\.\S+\n", result.stdout)
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["jbos"], "Did you mean 'jobs'"),
        (["definitions", "lst"], "Did you mean 'list'"),
        (["jobs", "--stgae", "dev"], "--stage"),
        (["jobs", "--limt", "3"], "--limit"),
    ],
)
def test_a_typing_error_is_answered_with_what_was_meant(
    switchyard: Switchyard, typed: list[str], meant: str
) -> None:
    result = switchyard(*typed)

    assert result.exit_code == 2
    assert meant in result.stderr


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_flags_have_no_type_in_help(switchyard: Switchyard, entry: Entry | Group) -> None:
    result = switchyard(entry.name, "--help")

    assert result.exit_code == 0
    assert "<bool>" not in result.stdout


@pytest.mark.slow
def test_ctrl_c_ends_a_command_with_one_line_and_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "go\n"

    process.send_signal(signal.SIGINT)

    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "Interrupted.\n")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_ctrl_c_during_imports_prints_no_traceback(share: float) -> None:
    """The moment is a share of the time that a whole start takes on this machine now."""
    began = time.monotonic()
    _python("-m", "switchyard_cli", "jobs", "--help")
    whole = time.monotonic() - began
    script = (
        "from switchyard_cli.main import main; import sys; "
        "sys.argv = ['switchyard', 'jobs', '--help']; print('go', flush=True); main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    process.stdout.readline()
    time.sleep(whole * share)

    process.send_signal(signal.SIGINT)

    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) in {(130, "Interrupted.\n"), (0, "")}


SWALLOWS: Final = """
import os, signal, sys
import switchyard_cli.commands.jobs.jobs as module
from switchyard_cli.services import services_of

def jobs(context: module.typer.Context) -> None:
    services_of(context)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise ImportError("cannot import name") from None

module.jobs = jobs
sys.argv = ["switchyard", "jobs"]
from switchyard_cli.main import main
main()
"""


@pytest.mark.slow
def test_ctrl_c_that_an_import_turns_into_another_error_is_reported_as_ctrl_c() -> None:
    ended = _python("-c", SWALLOWS)

    assert (ended.returncode, ended.stderr) == (130, "Interrupted.\n")


def _python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    environment = os.environ | variables
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
