"""Runs one step, keeps what it printed, and explains its failure."""

import os
import subprocess
import time  # noqa: TID251 - runs before anything is installed, our clock included
from pathlib import Path

from switchyard_local.setup.errors import SetupError
from switchyard_local.setup.steps import Step

STEP_TIMEOUT_SECONDS = 900
SHOWN_LINES = 8
DEFAULTS = {
    # Trust whom the system trusts, as pip does: a company's proxy may sign with its own root.
    "UV_SYSTEM_CERTS": "1",
    "NODE_USE_SYSTEM_CA": "1",
    # Give up soon when an index does not answer.
    "PIP_DEFAULT_TIMEOUT": "20",
    "PIP_RETRIES": "2",
    "UV_HTTP_TIMEOUT": "30",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_timeout": "30000",
}


def run_step(step: Step, *, root: Path, venv: Path, log: Path) -> None:
    print(f"  {step.doing} ...", end="", flush=True)  # noqa: T201
    began = time.monotonic()
    output = output_of_failed(step, root=root, environment=step_environment(venv), log=log)
    result = "" if output is None else " (failed)"
    print(f" {time.monotonic() - began:.1f} s{result}", flush=True)  # noqa: T201
    if output is None:
        return
    if step.otherwise is None:
        raise SetupError(explanation(step, output, log))
    run_step(step.otherwise, root=root, venv=venv, log=log)


def output_of_failed(
    step: Step, *, root: Path, environment: dict[str, str], log: Path
) -> str | None:
    """Run the step; return what it printed if it failed, `None` if it succeeded."""
    with log.open("a+", errors="replace") as stored:
        stored.write(f"$ {' '.join(step.command)}\n")
        stored.flush()
        start = stored.tell()
        try:
            finished = subprocess.run(
                step.command,
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stored,
                stderr=subprocess.STDOUT,
                timeout=STEP_TIMEOUT_SECONDS,
                check=False,
            )
            failed = finished.returncode != 0
        except subprocess.TimeoutExpired:
            stored.write(f"Gave up after {STEP_TIMEOUT_SECONDS} seconds.\n")
            failed = True
        stored.seek(start)
        return stored.read() if failed else None


def step_environment(venv: Path) -> dict[str, str]:
    environment = {**DEFAULTS, **os.environ}
    environment["PATH"] = f"{venv / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return environment


def explanation(step: Step, output: str, log: Path) -> str:
    lines = output.strip().splitlines()[-SHOWN_LINES:]
    shown = "\n".join(f"    {line}" for line in lines)
    return f"{step.doing} failed. {advice(step, output)}\n{shown}\n  The whole log: {log}"


def advice(step: Step, output: str) -> str:
    if "No space left" in output or "ENOSPC" in output:
        return "The disk is full: free about 1.5 GB, then try again."
    if "Permission denied" in output or "EACCES" in output:
        return "A file could not be written: make the folder yours, then try again."
    if step.index:
        return f"Is {step.index} reachable? Check network and proxy settings, then try again."
    return "Remove .venv, then try again."
