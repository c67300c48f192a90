"""Both Claude SDKs where they really run: in a child, behind the proxy, beside secrets."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from switchyard_worker.boundary import TASK_FILE
from switchyard_worker.parent.files.folder import HOME, TEMPORARY, UPLOADED
from switchyard_worker.parent.supervision.child_environment import child_environment
from tests.fakes.servers.messages_api import MessagesApi, messages_api
from tests.fakes.servers.messages_api_replies import answers, says, uses
from tests.worker.claude_home import an_assignment
from tests.worker.proxied import API_KEY, proxied

pytestmark = pytest.mark.skipif(
    not (find_spec("claude_agent_sdk") and find_spec("anthropic")), reason="no SDK is installed"
)

CANARY = "canary-9f8e7d6c"
MEMORY_MB = 1024
BACKENDS = ("claude-agent-sdk", pytest.param("messages", marks=pytest.mark.long))
BLUE = answers({"colour": "blue"})
NOBODY_THERE = "http://127.0.0.1:9"


def a_folder(parent: Path) -> Path:
    folder = parent / "task"
    for name in (*UPLOADED, TEMPORARY, HOME):
        (folder / name).mkdir(parents=True)
    return folder


def outcome(
    api: MessagesApi, folder: Path, backend: str, *, egress: str | None = None, **facts: Any
) -> Any:
    with (folder / TASK_FILE).open("w") as file:
        an_assignment(backend, memory_mb=MEMORY_MB, **facts).write(file)
    host = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "ANTHROPIC_BASE_URL": api.url,
        "AWS_SECRET_ACCESS_KEY": CANARY,
        "ANTHROPIC_CUSTOM_HEADERS": f"x-canary: {CANARY}",
        **({"CHILD_HTTPS_PROXY": egress} if egress else {}),
    }
    with proxied(api.url) as proxy:
        said = subprocess.run(
            [sys.executable, "-P", "-m", "switchyard_worker.child", str(folder)],
            cwd=folder,
            env=child_environment(host, folder, access=proxy.open().given),
            timeout=180,
            check=False,
            capture_output=True,
            text=True,
        )
    assert CANARY not in said.stdout + said.stderr
    return json.loads((folder / "outcome.json").read_text())


def trace_in(folder: Path) -> Any:
    [step] = json.loads((folder / "traces" / "session_trace.json").read_text())["steps"]
    return step


@dataclass(frozen=True)
class Session:
    """What became of a task that a child has done."""

    api: MessagesApi
    folder: Path
    emitted: Any

    def shown(self, number: int) -> str:
        """What the shell's command of this number printed."""
        output: str = trace_in(self.folder)["toolCalls"][number]["output"]
        return output


@pytest.fixture(scope="module", params=BACKENDS)
def answered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A task that is answered at once, in a stage whose proxy cannot be reached."""
    folder = a_folder(tmp_path_factory.mktemp("answered"))
    given = {"note": "@/etc/passwd", "command": "/help"}
    with messages_api(BLUE) as api:
        emitted = outcome(api, folder, request.param, egress=NOBODY_THERE, input=given)
    return Session(api, folder, emitted)


COMMANDS = (
    "echo hello",
    'echo "$HTTPS_PROXY $https_proxy"',
    "cd && touch .profile && pwd",
    "env; cat /proc/$PPID/environ | tr '\\0' '\\n'",
)
HELLO, EGRESS, MOVES_HOME, READS = range(len(COMMANDS))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A task whose agent runs one command after another."""
    folder = a_folder(tmp_path_factory.mktemp("shell"))
    commands = [uses("Bash", command=command) for command in COMMANDS]
    with messages_api(*commands, BLUE) as api:
        facts: Any = {"egress": NOBODY_THERE, "tools": ["Bash"], "max_turns": len(COMMANDS) + 2}
        emitted = outcome(api, folder, "claude-agent-sdk", **facts)
    return Session(api, folder, emitted)


def test_an_answer_is_told_in_the_outcome_and_the_trace(answered: Session) -> None:
    emitted = answered.emitted
    assert (emitted["status"], emitted["output"]) == ("completed", {"colour": "blue"})
    assert emitted["usage"]["inputTokens"] == 12
    assert emitted["costUsd"] > 0
    trace = trace_in(answered.folder)
    assert trace["costUsd"] == emitted["costUsd"]
    assert trace["cache"]["efficiencyPercent"] == 20


def test_an_agent_with_the_proxy_of_its_stage_asks_the_worker_for_claude_all_the_same(
    answered: Session,
) -> None:
    assert answered.emitted["status"] == "completed"
    assert len(answered.api.requests) == 1


def test_no_secret_of_the_worker_reaches_the_wire_or_a_file(answered: Session) -> None:
    assert_nothing_leaked(answered.api, answered.folder)
    assert "@/etc/passwd" in answered.api.heard[0]


def test_an_agents_shell_has_the_proxy_of_its_stage(shell: Session) -> None:
    assert f"{NOBODY_THERE} {NOBODY_THERE}" in shell.shown(EGRESS)


def test_tool_calls_are_told_in_the_trace(shell: Session) -> None:
    calls = trace_in(shell.folder)["toolCalls"]
    assert [call["name"] for call in calls] == [*["Bash"] * len(COMMANDS), "StructuredOutput"]
    assert calls[HELLO]["input"] == '{"command": "echo hello"}'
    assert "hello" in shell.shown(HELLO)


def test_the_agents_shell_has_a_home_inside_the_tasks_folder(shell: Session) -> None:
    assert str(shell.folder / "home") in shell.shown(MOVES_HOME)
    assert (shell.folder / "home" / ".profile").exists()


def test_the_agents_own_shell_finds_no_secret_of_the_worker(shell: Session) -> None:
    assert "CLAUDE_CONFIG_DIR=" in shell.shown(READS)
    assert "CLAUDE_CONFIG_DIR=" in shell.api.heard[-1]
    assert_nothing_leaked(shell.api, shell.folder)


@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_without_the_structure_is_a_failure(tmp_path: Path, backend: str) -> None:
    with messages_api(says("plain words")) as api:
        emitted = outcome(api, a_folder(tmp_path), backend)

    assert (emitted["status"], emitted["category"]) == ("failed", "parse")
    assert emitted["costUsd"] > 0


def assert_nothing_leaked(api: MessagesApi, folder: Path) -> None:
    assert api.heard
    written = [path for path in folder.rglob("*") if path.is_file()]
    leaks = [path.name for path in written if CANARY in path.read_text(errors="replace")]
    leaks += [path.name for path in written if API_KEY in path.read_text(errors="replace")]
    leaks += [path.name for path in written if "root:x:" in path.read_text(errors="replace")]
    assert not leaks
    assert not [heard for heard in api.heard if CANARY in heard or "root:x:" in heard]
