"""How the command starts: what it imports, its version, its help and Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

from switchyard_cli.app import command_of, function_of
from switchyard_cli.command_table import COMMANDS, Entry, Group
from tests.unit.cli.conftest import Switchyard

SLOW_TO_IMPORT: Final = (
    "httpx",
    "pydantic",
    "rich",
    "boto3",
    "switchyard.contracts",
    "switchyard_local",
)
NEVER_LISTED: Final = ("boto3", "jsonschema", "yaml", "aws_cdk", "typer.testing", "asyncio")
NOT_WITHOUT_A_CLOUD: Final = ("httpx", "switchyard.contracts.jobs", "switchyard_local.cloud")
ONLY_FOR_WORK: Final = (
    "boto3",
    "httpx",
    "rich",
    "switchyard.adapters",
    "switchyard.contracts.definitions",
    "switchyard.contracts.jobs",
    "switchyard.usecases",
    "switchyard_cli.pictures",
)
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


class NoJobs(BaseHTTPRequestHandler):
    """An API without jobs."""

    def do_GET(self) -> None:
        answer = {"jobs": [], "stage": "dev", "version": "1"}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_table_says_what_the_docstring_says(entry: Entry | Group) -> None:
    documented = entry.target if isinstance(entry, Entry) else entry.callback

    if documented:
        doc = function_of(documented).__doc__ or ""
        assert " ".join(doc.split("\n\n")[0].split()) == entry.help
    assert command_of(entry).name == entry.name


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["jobs", "--help"]])
def test_help_imports_nothing_that_is_slow(arguments: list[str]) -> None:
    script = (
        "import sys, atexit; from switchyard_cli.app import run; "
        f"sys.argv = ['switchyard', *{arguments}]; "
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); run()"
    )

    imported = _python("-c", script).stderr.split()

    assert "typer" in imported
    assert [name for name in SLOW_TO_IMPORT if name in imported] == []


@pytest.mark.slow
def test_an_interruption_while_a_text_is_executed_exits_with_its_code_too(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IN_A_TEXT)
    found = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    assert _python("-m", "interrupted", PYTHONPATH=found).returncode == 130


@pytest.mark.slow
def test_the_help_of_no_command_imports_what_only_its_work_needs() -> None:
    script = (
        "import sys; from switchyard_cli.app import command_of; "
        "from switchyard_cli.command_table import COMMANDS; "
        "[command_of(entry) for entry in COMMANDS]; print(*sys.modules)"
    )

    imported = _python("-c", script).stdout.split()

    assert "switchyard_cli.commands.stage.tenants_erase" in imported
    assert [name for name in imported if name.startswith(ONLY_FOR_WORK)] == []


@pytest.mark.slow
def test_jobs_imports_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    script = (
        "import sys, atexit; from switchyard_cli.main import main; "
        "sys.argv = ['switchyard', 'jobs']; "
        "atexit.register(lambda: print('imported', *sorted(sys.modules), file=sys.stderr)); main()"
    )

    ended = _python("-c", script, SWITCHYARD_FOLDER=str(tmp_path))

    sentence, _, imported = ended.stderr.partition("imported")
    assert "is not running" in sentence
    assert sorted({*NEVER_LISTED, *NOT_WITHOUT_A_CLOUD} & {*imported.split()}) == []


@pytest.mark.slow
def test_jobs_of_an_api_on_this_machine_are_listed_without_httpx() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), NoJobs) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        ended = _python(
            "-X",
            "importtime",
            *("-m", "switchyard_cli", "jobs", "--stage", "dev"),
            SWITCHYARD_API_URL=url,
            SWITCHYARD_API_KEY="any",
        )
        server.shutdown()

    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "No jobs" in ended.stdout
    assert "http.client" in imported
    assert sorted({*NEVER_LISTED, "httpx", "httpcore"} & imported) == []


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
