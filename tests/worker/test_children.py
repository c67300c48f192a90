"""Real child processes: what they get, what they leave, how they end."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.worker.real_child import HOST, run, stdout
from worker.child_environment import Credential, child_environment
from worker.task.assignment import Assignment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


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
        "TMPDIR",
    }
    assert environment["CLAUDE_CONFIG_DIR"] == str(folder / "claude")
    assert environment["TMPDIR"] == str(folder / "tmp")
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


def test_what_was_forked_while_the_others_were_killed_is_found_at_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    late = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) for _ in "ab"]
    looks = iter([[psutil.Process(process.pid)] for process in late])
    monkeypatch.setattr("worker.children.orphans", lambda except_for: next(looks, []))

    run(tmp_path, "pass")

    left = [process.pid for process in late if psutil.pid_exists(process.pid)]
    for process in late:
        process.kill()
        process.wait(10)
    assert left == []
