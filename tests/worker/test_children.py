"""Real child processes: what they get, what they leave, how they end."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from switchyard.adapters.system import system_sleep
from worker.child_environment import Credential, child_environment
from worker.child_output import MAX_KEPT_BYTES, MAX_LINE_BYTES
from worker.children import Children
from worker.redaction import Redaction
from worker.subreaper import become_subreaper
from worker.task.assignment import Assignment

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


def run(
    folder: Path,
    code: str,
    *,
    stop_after: float | None = None,
    kill_seconds: float = 0.3,
    environment: Mapping[str, str] | None = None,
    secret: str | None = None,
) -> int:
    """Run a Python text as a child, and perhaps stop it."""

    async def go() -> int:
        become_subreaper()
        children = Children(sleep=system_sleep, kill_seconds=kill_seconds)
        async with children.running(
            [sys.executable, "-c", code],
            folder=folder,
            environment=environment or {"PATH": os.environ["PATH"]},
            request_id="r",
            redaction=Redaction(secret),
        ) as child:
            if stop_after is None:
                await child.exited()
            else:
                await asyncio.sleep(stop_after)
        return await child.exited()

    return asyncio.run(go())


def stdout(folder: Path) -> str:
    return (folder / "logs" / "stdout.log").read_text()


def test_exactly_these_variables_reach_a_child(folder: Path) -> None:
    credential = Credential.found_in(HOST)
    environment = child_environment(HOST, folder, credential=credential)

    run(folder, "import os; print(*sorted(os.environ), sep='\\n')", environment=environment)

    assert set(stdout(folder).split()) - {"LC_CTYPE"} == {  # Python may set LC_CTYPE itself
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_TIMEOUT",
        "HOME",
        "INPUT_FILE",
        "LANG",
        "PATH",
        "PWD",
        "PYTHONPATH",
        "TERM",
    }
    assert environment["CLAUDE_CONFIG_DIR"] == str(folder / "claude")
    assert "canary" not in str({**environment, "ANTHROPIC_API_KEY": ""})


def test_an_agent_that_needs_no_credential_gets_none(folder: Path) -> None:
    assert "canary" not in str(child_environment(HOST, folder, credential=None))


def test_a_credential_does_not_show_itself() -> None:
    assert "canary" not in repr(Credential.found_in(HOST))


def test_a_child_has_its_own_session_its_folder_and_no_input(folder: Path) -> None:
    code = "import os, sys; print(os.getsid(0) == os.getpid(), os.getcwd(), sys.stdin.read() == '')"

    run(folder, code)

    assert stdout(folder) == f"True {folder} True\n"


def test_a_stopped_child_takes_its_whole_group_along(folder: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )

    assert run(folder, code, stop_after=0.5) == -signal.SIGTERM
    assert not _alive(int(stdout(folder)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
@pytest.mark.parametrize("ends_itself", [True, False])
def test_an_orphan_with_its_own_session_does_not_outlive_the_task(
    folder: Path, ends_itself: bool
) -> None:
    grandchild = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    daemonise = (
        "import os, subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {grandchild!r}], start_new_session=True)"
    )
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.run([sys.executable, '-c', {daemonise!r}]); time.sleep({0.4 * ends_itself})\n"
        + ("" if ends_itself else "time.sleep(60)")
    )

    run(folder, code, stop_after=None if ends_itself else 0.6)

    assert not _alive(int(stdout(folder)))


def test_a_child_that_ignores_sigterm_is_killed(folder: Path) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print('deaf', flush=True); time.sleep(60)"
    )
    began = time.monotonic()

    assert run(folder, code, stop_after=0.5) == -signal.SIGKILL
    assert time.monotonic() - began < 5


def test_long_lines_are_cut_and_endless_output_is_dropped(folder: Path) -> None:
    code = (
        f"print('x' * {3 * MAX_LINE_BYTES}); print('short')\n"
        f"for n in range(2_000): print(n, 'y' * 1_000)"
    )

    run(folder, code)

    first, second, *_, last = stdout(folder).splitlines()
    assert (len(first), second) == (MAX_LINE_BYTES, "short")
    assert "the rest is not kept" in last
    assert len(stdout(folder)) <= MAX_KEPT_BYTES + 200


def test_a_printed_credential_is_not_kept(folder: Path) -> None:
    run(folder, "print('my key is sk-canary')", secret="sk-canary")

    assert stdout(folder) == "my key is [redacted]\n"


def test_the_offline_child_imports_nothing_heavy(tmp_path: Path) -> None:
    for name in ("artifacts", "logs", "traces"):
        (tmp_path / name).mkdir()
    Assignment(
        request_id="r",
        attempt=1,
        backend="offline",
        model="m",
        tag="t",
        description="d",
        max_turns=1,
        timeout_ms=1000,
        output_schema={"type": "object"},
    ).write(tmp_path)
    code = (
        "import sys, pathlib\n"
        f"from worker.task.__main__ import main; main(pathlib.Path({str(tmp_path)!r}))\n"
        "print(*sorted(name.partition('.')[0] for name in sys.modules))"
    )

    run(tmp_path, code, environment=child_environment(HOST, tmp_path, credential=None))

    heavy = {"asyncio", "boto3", "botocore", "claude_agent_sdk", "jsonschema", "psutil", "pydantic"}
    imported = set(stdout(tmp_path).splitlines()[-1].split())
    assert {"worker", "switchyard"} <= imported
    assert not imported & heavy


def _alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
