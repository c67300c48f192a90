"""Real child processes: what they get, what they leave, how they end."""

import asyncio
import signal
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from switchyard_worker.boundary import TASK_FILE, Assignment, become_subreaper
from switchyard_worker.parent.supervision.child_environment import (
    ChildAccess,
    Credential,
    child_environment,
)
from tests.worker.real_child import HOST, a_family, run, stdout, to_start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


def started_since(before: set[psutil.Process]) -> set[psutil.Process]:
    """Children of this process that other tests did not start."""
    return set(psutil.Process().children()) - before


@pytest.fixture
def before() -> set[psutil.Process]:
    return set(psutil.Process().children())


def test_exactly_these_variables_reach_a_child(folder: Path) -> None:
    access = ChildAccess(name="ANTHROPIC_API_KEY", token="t", endpoint="http://127.0.0.1:2")
    environment = child_environment(HOST, folder, access=access)

    run(folder, "import os; print(*sorted(os.environ), sep='\\n')", environment=environment)

    assert set(stdout(folder).split()) - {"LC_CTYPE"} == {  # Python may set LC_CTYPE itself
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_TMPDIR",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_TIMEOUT",
        "HOME",
        "INPUT_FILE",
        "LANG",
        "PATH",
        "PWD",
        "PYTHONPATH",
        "SWITCHYARD_WORKER",
        "TERM",
        "TMPDIR",
    }
    assert environment["CLAUDE_CONFIG_DIR"] == str(folder / "claude")
    assert environment["TMPDIR"] == str(folder / "tmp")
    assert environment["HOME"] == str(folder / "home")
    assert environment["ANTHROPIC_API_KEY"] == "t"
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:2"
    assert "canary" not in str(environment)


def test_a_child_gets_the_proxy_of_a_restricted_stage_only_if_it_is_meant_for_agents(
    folder: Path,
) -> None:
    worker_only = {**HOST, "HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "169.254.170.2"}
    names = {"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}
    assert not names & child_environment(worker_only, folder, access=None).keys()

    also_for_agents = {**worker_only, "CHILD_HTTPS_PROXY": "http://proxy:3128"}
    given = child_environment(also_for_agents, folder, access=None)
    assert given["HTTPS_PROXY"] == given["https_proxy"] == "http://proxy:3128"
    assert given["NO_PROXY"] == given["no_proxy"] == "localhost,127.0.0.1"


def test_an_agent_that_needs_no_credential_gets_none(folder: Path) -> None:
    assert "canary" not in str(child_environment(HOST, folder, access=None))


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
    assignment = Assignment(
        request_id="r",
        attempt=1,
        backend="offline",
        model="m",
        tag="t",
        description="d",
        max_turns=1,
        timeout_ms=1000,
        output_schema={"type": "object"},
    )
    with (tmp_path / TASK_FILE).open("w") as file:
        assignment.write(file)
    code = (
        "import sys, pathlib\n"
        "from switchyard_worker.child.__main__ import main\n"
        f"main(pathlib.Path({str(tmp_path)!r}))\n"
        "print(*sorted(name.partition('.')[0] for name in sys.modules))"
    )

    run(tmp_path, code, environment=child_environment(HOST, tmp_path, access=None))

    heavy = {"asyncio", "boto3", "botocore", "claude_agent_sdk", "jsonschema", "psutil", "pydantic"}
    imported = set(stdout(tmp_path).splitlines()[-1].split())
    assert {"switchyard_worker", "switchyard"} <= imported
    assert not imported & heavy


def _alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_a_chain_of_fork_and_exit_is_ended_and_leaves_no_zombie(
    folder: Path, before: set[psutil.Process]
) -> None:
    """Each hop leads a session of its own, so that no signal to a group reaches the next."""
    code = """
        import os, time
        for hop in range(300):
            if os.fork():
                os._exit(0)
            os.setsid()
        time.sleep(60)
    """
    began = time.monotonic()

    run(folder, textwrap.dedent(code))

    assert time.monotonic() - began < 10
    assert not started_since(before)


def test_a_sweep_that_gives_up_says_so_and_the_next_one_ends_what_was_left(
    folder: Path,
    before: set[psutil.Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("switchyard_worker.parent.supervision.children.SWEEP_SECONDS", 0.1)
    monkeypatch.setattr(
        "switchyard_worker.parent.supervision.children.SECONDS_BETWEEN_SWEEPS", 0.05
    )
    orphan = "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)"

    async def story() -> int:
        become_subreaper()
        children = a_family()
        with monkeypatch.context() as patched:
            patched.setattr(
                "switchyard_worker.parent.supervision.descendants.send",
                lambda processes, number: None,
            )
            async with children.running(to_start(folder, orphan)) as child:
                await child.exited()
        assert len(started_since(before)) == 1
        sweeping = asyncio.create_task(children.keep_swept())
        async with asyncio.timeout(10):
            while started_since(before):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.02)
        sweeping.cancel()
        return children.given_up

    given_up = asyncio.run(story())

    assert given_up >= 1
    assert "processes could not be ended yet" in caplog.messages


def test_a_sweep_spares_the_processes_of_a_task_that_still_runs(
    folder: Path, before: set[psutil.Process]
) -> None:
    """A process that was adopted from its task by this process is spared, too."""
    (folder / "b" / "logs").mkdir(parents=True)
    giving_away = (
        "import ctypes, os, sys, time\n"
        "ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(60)\n"
        "    os._exit(0)\n"
        "print('ready', flush=True); time.sleep(60)"
    )

    async def story() -> int:
        become_subreaper()
        children = a_family()
        async with children.running(to_start(folder / "b", giving_away)):
            async with asyncio.timeout(10):
                while len(started_since(before)) < 2:  # noqa: ASYNC110 - other processes
                    await asyncio.sleep(0.02)
            async with children.running(to_start(folder, "pass")) as other:
                await other.exited()
            return len(started_since(before))

    assert asyncio.run(story()) == 2
    assert not started_since(before)
