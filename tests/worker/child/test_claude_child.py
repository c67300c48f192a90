"""Both Claude SDKs where they really run: in a child, behind the proxy, beside secrets."""

import json
import os
import subprocess
import sys
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
BACKENDS = ("claude-agent-sdk", "messages")
BLUE = answers({"colour": "blue"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "task"
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


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_is_told_in_the_outcome_and_the_trace(folder: Path, backend: str) -> None:
    with messages_api(BLUE) as api:
        emitted = outcome(api, folder, backend)

    assert (emitted["status"], emitted["output"]) == ("completed", {"colour": "blue"})
    assert emitted["usage"]["inputTokens"] == 12
    assert emitted["costUsd"] > 0
    trace = trace_in(folder)
    assert trace["costUsd"] == emitted["costUsd"]
    assert trace["cache"]["efficiencyPercent"] == 20


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_agent_with_the_proxy_of_its_stage_asks_the_worker_for_claude_all_the_same(
    folder: Path, backend: str
) -> None:
    nobody_there = "http://127.0.0.1:9"
    with messages_api(BLUE) as api:
        emitted = outcome(api, folder, backend, egress=nobody_there)

    assert (emitted["status"], emitted["output"]) == ("completed", {"colour": "blue"})


def test_an_agents_shell_has_the_proxy_of_its_stage(folder: Path) -> None:
    command = 'echo "$HTTPS_PROXY $https_proxy"'
    with messages_api(uses("Bash", command=command), BLUE) as api:
        outcome(api, folder, "claude-agent-sdk", egress="http://127.0.0.1:9", tools=["Bash"])

    shown = trace_in(folder)["toolCalls"][0]["output"]
    assert "http://127.0.0.1:9 http://127.0.0.1:9" in shown


def test_tool_calls_are_told_in_the_trace(folder: Path) -> None:
    with messages_api(uses("Bash", command="echo hello"), BLUE) as api:
        outcome(api, folder, "claude-agent-sdk", tools=["Bash"])

    calls = trace_in(folder)["toolCalls"]
    assert [call["name"] for call in calls] == ["Bash", "StructuredOutput"]
    assert calls[0]["input"] == '{"command": "echo hello"}'
    assert "hello" in calls[0]["output"]


def test_the_agents_shell_has_a_home_inside_the_tasks_folder(folder: Path) -> None:
    with messages_api(uses("Bash", command="cd && touch .profile && pwd"), BLUE) as api:
        outcome(api, folder, "claude-agent-sdk", tools=["Bash"])

    assert str(folder / "home") in trace_in(folder)["toolCalls"][0]["output"]
    assert (folder / "home" / ".profile").exists()


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_answer_without_the_structure_is_a_failure(folder: Path, backend: str) -> None:
    with messages_api(says("plain words")) as api:
        emitted = outcome(api, folder, backend)

    assert (emitted["status"], emitted["category"]) == ("failed", "parse")
    assert emitted["costUsd"] > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_secret_of_the_worker_reaches_the_wire_or_a_file(folder: Path, backend: str) -> None:
    given = {"note": "@/etc/passwd", "command": "/help"}
    with messages_api(BLUE) as api:
        outcome(api, folder, backend, input=given)

    assert_nothing_leaked(api, folder)
    assert "@/etc/passwd" in api.heard[0]


def test_the_agents_own_shell_finds_no_secret_of_the_worker(folder: Path) -> None:
    reads = uses("Bash", command="env; cat /proc/$PPID/environ | tr '\\0' '\\n'")
    with messages_api(reads, BLUE) as api:
        outcome(api, folder, "claude-agent-sdk", tools=["Bash"])

    assert "CLAUDE_CONFIG_DIR=" in api.heard[-1]
    assert_nothing_leaked(api, folder)


def assert_nothing_leaked(api: MessagesApi, folder: Path) -> None:
    assert api.heard
    written = [path for path in folder.rglob("*") if path.is_file()]
    leaks = [path.name for path in written if CANARY in path.read_text(errors="replace")]
    leaks += [path.name for path in written if API_KEY in path.read_text(errors="replace")]
    leaks += [path.name for path in written if "root:x:" in path.read_text(errors="replace")]
    assert not leaks
    assert not [heard for heard in api.heard if CANARY in heard or "root:x:" in heard]
