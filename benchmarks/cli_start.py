"""Measure the processor time that a `switchyard` command takes from its start to its end.

A small server answers `jobs` in place of the local cloud and of a deployed stage, so that a whole
listing is measured and not only its failure. The
ratio to a bare interpreter, measured in the same run, does not depend on how busy the machine is.
Exits with 1 if a command takes longer than the limit.
"""

import json
import os
import resource
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread  # noqa: TID251 - a server beside the measurement
from typing import Final

from switchyard_cli.command_table import COMMANDS
from switchyard_local.endpoint import Deployment, Endpoint, remember
from switchyard_local.home import Home
from switchyard_local.processes.process import identified
from switchyard_local.processes.roster import MINISTACK, Roster

MAX_CPU_MS: Final = 300
ROUNDS: Final = 3
"""The most rounds: a command that took too long is measured again, as the machine may be slow."""
BARE: Final = ("-c", "pass")
MEASURED: Final = (
    "--help",
    "--version",
    *(f"{entry.name} --help" for entry in COMMANDS),
    "jobs",
    "jobs --stage dev",
)
JOB: Final = {
    "jobId": "job-00000000-0000-4000-8000-000000000000",
    "name": "measured",
    "status": "completed",
    "totalTasks": 3,
    "createdAt": "2026-01-01T00:00:00Z",
}
ANSWERS: Final = {
    "/jobs": {"jobs": [JOB] * 20},
    "/health": {"stage": "dev", "version": "1"},
}


class StubApi(BaseHTTPRequestHandler):
    """Answers as the API would."""

    def do_GET(self) -> None:
        body = json.dumps(ANSWERS[self.path.partition("?")[0]]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing: standard output is the result."""


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    server = ThreadingHTTPServer(("127.0.0.1", 0), StubApi)
    Thread(target=server.serve_forever, daemon=True).start()
    with TemporaryDirectory() as folder:
        environment = environment_for(server.server_port, Home(Path(folder)))
        bare = cpu_ms(BARE, runs, environment)
        found = dict.fromkeys(MEASURED, float("inf"))
        for _ in range(ROUNDS):
            for command in [name for name, spent in found.items() if spent > MAX_CPU_MS]:
                arguments = ("-m", "switchyard_cli", *command.split())
                found[command] = min(found[command], cpu_ms(arguments, runs, environment))
    server.shutdown()
    answer = {
        "bare_python_cpu_ms": bare,
        "commands": {
            command: {"cpu_ms": spent, "ratio": round(spent / bare, 1)}
            for command, spent in found.items()
        },
        "limit_cpu_ms": MAX_CPU_MS,
    }
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    return int(max(found.values()) > MAX_CPU_MS)


def environment_for(port: int, home: Home) -> dict[str, str]:
    """Let commands find the server as the local cloud, which this process runs, and as a stage."""
    url = f"http://127.0.0.1:{port}"
    endpoint = Endpoint(url, "any", "local", url, "us-east-1", port)
    remember(home.cloud_file, Deployment(endpoint, sources=""))
    Roster(home.processes_file).enter(MINISTACK, identified(os.getpid()))
    environment = os.environ | {
        "SWITCHYARD_API_URL": url,
        "SWITCHYARD_API_KEY": "any",
        "SWITCHYARD_FOLDER": str(home.folder),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages are compiled once
    return environment


def cpu_ms(arguments: tuple[str, ...], runs: int, environment: dict[str, str]) -> int:
    """Return the least processor time of several runs."""
    return min(_once(arguments, environment) for _ in range(runs))


def _once(arguments: tuple[str, ...], environment: dict[str, str]) -> int:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, capture_output=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode != 0:
        raise SystemExit(ended.stderr.decode())
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(spent * 1000)


if __name__ == "__main__":
    sys.exit(main())
