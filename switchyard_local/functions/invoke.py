"""Runs a function's handler on this machine, under AWS's own runtime client."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from switchyard.contracts.function_names import service_name
from switchyard.ports import Clock
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.environments import ACCOUNT, REGION, aws_environment, bare_environment
from switchyard_local.errors import CloudError, failure_with_log
from switchyard_local.functions.runtime_api import Answer, Invocation, RuntimeApi
from switchyard_local.home import Home

RUNTIME: Final = "awslambdaric"
TIMEOUT_SECONDS: Final = 30.0  # a deployed function's
POLL_SECONDS: Final = 0.2
STOP_SECONDS: Final = 5.0
SHARED_LAYER: Final = "layers/shared/python"


@dataclass(frozen=True)
class Invoked:
    answer: Answer
    log: str
    """The output that the handler printed."""


def function_names(root: Path) -> list[str]:
    return sorted(file.parent.name for file in (root / "lambdas").glob("*/handler.py"))


def function_environment(home: Home, port: int, function: str) -> dict[str, str]:
    """Return the variables that the stacks gave to the function, and those of the local cloud."""
    known = Gateway(port).configuration(_deployed_name(function))
    deployed: Mapping[str, str] = known.get("Environment", {}).get("Variables", {})
    return {**bare_environment(home), **deployed, **aws_environment(port)}


def invoke(
    root: Path,
    function: str,
    event: bytes,
    *,
    environment: Mapping[str, str],
    log: Path,
    clock: Clock,
) -> Invoked:
    """Raise `CloudError` when there is no answer. The process has ended when this returns."""
    if find_spec(RUNTIME) is None:
        raise CloudError(f"{RUNTIME} is not installed. `make setup` installs it.")
    invocation = Invocation(
        event=event,
        function_arn=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{_deployed_name(function)}",
        deadline_ms=clock.now_ms() + round(TIMEOUT_SECONDS * 1000),
    )
    folder = root / "lambdas" / function
    with RuntimeApi(invocation, poll_seconds=POLL_SECONDS) as api:
        of_lambda = {
            "AWS_LAMBDA_RUNTIME_API": api.address,
            "AWS_LAMBDA_FUNCTION_NAME": _deployed_name(function),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
            "LAMBDA_TASK_ROOT": str(folder),
            "PYTHONPATH": f"{folder}:{root / SHARED_LAYER}",
        }
        with _runtime(folder, {**environment, **of_lambda}, log) as process:
            answer = _answer(api, process, clock)
    if answer is None:
        raise failure_with_log(f"{function} gave no answer.", log)
    return Invoked(answer, log.read_text(errors="replace"))


def _deployed_name(function: str) -> str:
    return f"switchyard-local-{service_name(function)}"


def _answer(api: RuntimeApi, process: subprocess.Popen[bytes], clock: Clock) -> Answer | None:
    deadline = clock.monotonic() + TIMEOUT_SECONDS
    while api.answer is None and process.poll() is None and clock.monotonic() < deadline:
        api.handle_request()
    return api.answer


@contextmanager
def _runtime(
    folder: Path, environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", RUNTIME, "handler.handler"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
