"""What the command imports: most of what a short command does is to import."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

NOT_FOR_HELP: Final = (
    "asyncio",
    "boto3",
    "http.client",
    "httpx",
    "importlib.metadata",
    "jsonschema",
    "pydantic",
    "rich",
    "ssl",
    "switchyard.adapters",
    "switchyard.contracts.wire",
    "switchyard.usecases",
    "switchyard_cli.pictures",
    "switchyard_local.cloud",
    "yaml",
)
NOT_TO_LIST_JOBS: Final = (
    "annotated_types",
    "asyncio",
    "aws_cdk",
    "boto3",
    "httpcore",
    "httpx",
    "importlib.metadata",
    "jsonschema",
    "pydantic",
    "pydantic_core",
    "switchyard.contracts",
    "switchyard.usecases",
    "switchyard_cli.pictures",
    "switchyard_local.cloud",
    "typer.testing",
    "yaml",
)
NOT_WITHOUT_A_CLOUD: Final = ("http.client", "ssl", *NOT_TO_LIST_JOBS)
HELP_OF_ALL: Final = """
import sys
from typer.main import get_command
from switchyard_cli.app import app
from switchyard_cli.command_table import COMMANDS
for entry in COMMANDS:
    names = [""] if not hasattr(entry, "commands") else ["", *(name for name, _ in entry.commands)]
    for name in names:
        get_command(app)([entry.name, *filter(None, [name]), "--help"], standalone_mode=False)
print("imported", *(name for name, module in sys.modules.items() if module))
"""
RUN: Final = """
import atexit, sys
from switchyard_cli.main import main
imported = lambda: (name for name, module in sys.modules.items() if module)
atexit.register(lambda: print("imported", *imported(), file=sys.stderr))
main()
"""
JOB: Final = {
    "jobId": "job-00000000-0000-4000-8000-000000000000",
    "name": "brand",
    "status": "completed",
    "totalTasks": 3,
    "createdAt": "2026-01-01T00:00:00Z",
}


class OneJob(BaseHTTPRequestHandler):
    """An API with one job."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"jobs": [JOB], "stage": "dev", "version": "1"}).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["jobs", "--help"]], ids=" ".join)
def test_help_imports_nothing_that_is_slow(arguments: list[str]) -> None:
    ended = _python(RUN, *arguments)

    assert "Usage" in ended.stdout
    assert _among(ended.stderr, NOT_FOR_HELP) == []


@pytest.mark.slow
def test_the_version_needs_the_metadata_of_packages_alone() -> None:
    ended = _python(RUN, "--version")

    allowed = {"importlib.metadata"}
    assert _among(ended.stderr, [name for name in NOT_FOR_HELP if name not in allowed]) == []


@pytest.mark.slow
def test_the_help_of_no_command_imports_what_only_its_work_needs() -> None:
    ended = _python(HELP_OF_ALL)

    assert "switchyard_cli.commands.stage.tenants_erase" in ended.stdout
    assert _among(ended.stdout, NOT_FOR_HELP) == []


@pytest.mark.slow
def test_jobs_without_a_cloud_import_no_more_than_the_sentence_needs(tmp_path: Path) -> None:
    ended = _python(RUN, "jobs", SWITCHYARD_FOLDER=str(tmp_path))

    assert "is not running" in ended.stderr
    assert _among(ended.stderr, NOT_WITHOUT_A_CLOUD) == []


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--limit", "5", "--status", "completed"]])
def test_jobs_of_an_api_on_this_machine_are_listed_with_few_imports(options: list[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), OneJob) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        place = {"SWITCHYARD_API_URL": url, "SWITCHYARD_API_KEY": "any"}
        ended = _python(RUN, "jobs", "--stage", "dev", *options, **place)
        server.shutdown()

    assert "brand" in ended.stdout
    assert "http.client" in ended.stderr
    assert _among(ended.stderr, NOT_TO_LIST_JOBS) == []


def _among(printed: str, unwanted: list[str] | tuple[str, ...]) -> list[str]:
    """Return the modules that were imported although they, or the package, are unwanted."""
    imported = printed.partition("imported ")[2].split()
    assert "typer" in imported
    below = tuple(f"{name}." for name in unwanted)
    return sorted(name for name in imported if name in unwanted or name.startswith(below))


def _python(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    environment = os.environ | variables
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
