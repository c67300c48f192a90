"""Runs a Python text as a real child."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from switchyard.adapters.system import SystemClock, ThreadOffload, system_sleep
from switchyard_worker.boundary import become_subreaper
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.supervision.child_output import LastActivity, Printed
from switchyard_worker.parent.supervision.children import Children, ToStart

HOST = {
    "PATH": os.environ["PATH"],
    "HOME": "/home/worker",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "CLAUDE_TIMEOUT": "1000",
    "CLAUDE_CONFIG_DIR": "/home/worker/.claude",
    "ANTHROPIC_API_KEY": "sk-canary",
    "CLAUDE_CODE_OAUTH_TOKEN": "oauth-canary",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    "AWS_ACCESS_KEY_ID": "aws-canary",
    "AWS_SECRET_ACCESS_KEY": "aws-canary",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/canary",
    "ECS_CONTAINER_METADATA_URI_V4": "http://canary",
    "SQS_QUEUE_URL": "http://canary",
    "LD_PRELOAD": "",
    "PYTHONSTARTUP": "/canary.py",
}


def run(
    folder: Path,
    code: str,
    *,
    stop_after: float | None = None,
    kill_seconds: float = 0.3,
    environment: Mapping[str, str] | None = None,
    secret: str | None = None,
    activity: LastActivity | None = None,
) -> int:
    """Run a Python text as a child, and perhaps stop it."""

    async def go() -> int:
        become_subreaper()
        children = a_family(kill_seconds=kill_seconds)
        wanted = to_start(folder, code, environment=environment, secret=secret, activity=activity)
        async with children.running(wanted) as child:
            if stop_after is None:
                await child.exited()
            else:
                await asyncio.sleep(stop_after)
        return await child.exited()

    return asyncio.run(go())


def a_family(*, kill_seconds: float = 0.3) -> Children:
    return Children(
        clock=SystemClock(),
        sleep=system_sleep,
        offload=ThreadOffload(threads=2),
        kill_seconds=kill_seconds,
    )


def to_start(
    folder: Path,
    code: str,
    *,
    environment: Mapping[str, str] | None = None,
    secret: str | None = None,
    activity: LastActivity | None = None,
) -> ToStart:
    return ToStart(
        command=[sys.executable, "-c", code],
        folder=TaskFolder.opened(folder),
        environment=environment or {"PATH": os.environ["PATH"]},
        request_id="r",
        redaction=Redaction(secret),
        printed=Printed(),
        activity=activity or LastActivity(SystemClock()),
    )


def stdout(folder: Path) -> str:
    return (folder / "logs" / "stdout.log").read_text()
