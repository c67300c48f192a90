"""Real workers whose children ask Claude through the proxy, and some that lie or steal."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from switchyard.domain.measuring.prices import PRICES, Tokens
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Outcome
from tests.fakes.servers.messages_api import MessagesApi, messages_api
from tests.fakes.servers.messages_api_replies import answers, hangs, says, uses
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run
from tests.worker.parent.files.test_users_in_a_container import (
    ENTRYPOINT,
    OURS,
    folder,
    python,
    users,
)
from tests.worker.task_users import agent_users
from tests.worker.test_main import ENVIRONMENT, REPOSITORY

KEY = "sk-ant-real-canary-5e4d3c2b1a"
MODEL = "claude-haiku-4-5"
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
BLUE = answers({"colour": "blue"})
BACKENDS = ("claude-agent-sdk", pytest.param("messages", marks=pytest.mark.long))

__all__ = ["folder", "python", "users"]  # fixtures


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    pytest.importorskip("switchyard_worker.agents.sdk")
    with messages_api(BLUE) as api:
        yield api


def worked(harness: WorkerHarness, api: MessagesApi, **definition: Any) -> Outcome:
    known = {"backend": "messages", "model": MODEL, "outputSchema": SCHEMA}
    harness.host_environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(harness.folder.parent),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": api.url,
    }
    harness.add_task(definition=known | definition)
    harness.work(until=harness.quiet, seconds=60)
    outcome = harness.task().outcome
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_task_is_done_with_a_token_and_paid_by_what_the_api_reports(
    harness: WorkerHarness, api: MessagesApi, backend: str
) -> None:
    outcome = worked(harness, api, backend=backend, maxCostUsd=1)

    assert outcome.state is TaskState.COMPLETED
    assert outcome.usage.input_tokens == 12
    tokens = Tokens(input=12, output=5, cache_read=3)
    assert outcome.usage.cost_usd == pytest.approx(PRICES[MODEL].of(tokens))
    assert all(KEY in heard for heard in api.heard)
    assert not any("sk-ant-task-" in heard for heard in api.heard)


def test_the_agents_shell_finds_a_token_that_is_redacted_and_no_key(
    harness: WorkerHarness, api: MessagesApi
) -> None:
    api.replies = (uses("Bash", command="env; cat /proc/$PPID/environ | tr '\\0' '\\n'"), BLUE)
    outcome = worked(harness, api, backend="claude-agent-sdk", tools=["Bash"])

    assert outcome.state is TaskState.COMPLETED
    shown = api.heard[-1].partition("\n\n")[2]  # the shell's output, as Claude is told of it
    assert "ANTHROPIC_API_KEY=sk-ant-task-" in shown
    assert KEY not in shown
    stored = b"".join(harness.memory.blobs.blobs.values()).decode(errors="replace")
    assert "ANTHROPIC_API_KEY" in stored
    assert KEY not in stored
    token = shown.partition("ANTHROPIC_API_KEY=")[2].partition("\\n")[0]
    assert len(token) > 50
    assert token not in stored


LIAR = """
    import json, os, sys, urllib.request
    folder = sys.argv[-1]
    question = {"model": "claude-haiku-4-5", "max_tokens": 100,
                "messages": [{"role": "user", "content": "Choose."}]}
    for _ in range(3):
        request = urllib.request.Request(
            os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(question).encode(),
            {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
        urllib.request.urlopen(request).read()
    print("the token is", os.environ["ANTHROPIC_API_KEY"])
    with open(f"{folder}/outcome.json", "w") as file:
        json.dump({"status": "completed", "output": {"colour": os.environ["ANTHROPIC_API_KEY"]},
                   "usage": {"inputTokens": CLAIMED}, "costUsd": CLAIMED}, file)
"""


ASKS_ONCE = """
    import json, os, sys, urllib.request
    outcome = {"status": "completed", "output": {"colour": "blue"}}
    question = {"model": "claude-haiku-4-5", "max_tokens": 100,
                "messages": [{"role": "user", "content": "Choose."}]}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(question).encode(),
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    try:
        urllib.request.urlopen(request).read()
    except OSError as lost:
        outcome = {"status": "failed", "category": "network", "error": str(lost)}
    with open(f"{sys.argv[-1]}/outcome.json", "w") as file:
        json.dump(outcome, file)
"""


BOASTS = """
    with open(f"{folder}/logs/summary.log", "w") as file:
        file.write("status    boasting\\ntokens    999 in\\ncost      999 USD\\n")
    with open(f"{folder}/traces/session_trace.json", "w") as file:
        json.dump({"counted": {"inputTokens": 999}, "steps": []}, file)
    import pathlib, time
    (pathlib.Path(__file__).parent / "spent").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize("claimed", [0, 999])
def test_what_a_child_claims_to_have_used_is_not_believed(
    harness: WorkerHarness,
    api: MessagesApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    claimed: int,
) -> None:
    api.replies = (says(),)
    let_children_run(LIAR.replace("CLAIMED", str(claimed)), tmp_path, monkeypatch)

    outcome = worked(harness, api)

    assert outcome.state is TaskState.COMPLETED
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (36, 15)
    assert 0 < outcome.usage.cost_usd < 0.001
    stored = b"".join(harness.memory.blobs.blobs.values()).decode(errors="replace")
    assert "the token is [redacted]" in stored
    assert "sk-ant-task-" not in stored


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_task_that_reaches_its_cap_fails_for_good_and_says_so(
    harness: WorkerHarness, api: MessagesApi, backend: str
) -> None:
    """The input alone is dearer, as the API counts it; the agent's own estimate lets it pass."""
    api.input_tokens = 1_000_000
    outcome = worked(harness, api, backend=backend, maxCostUsd=0.02)

    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, FailureCategory.VALIDATION)
    assert "maxCostUsd of this task is reached: spent $0.000000" in (outcome.error or "")
    assert "cap $0.020000" in (outcome.error or "")
    assert not api.requests


@pytest.mark.long
def test_a_task_that_times_out_says_what_it_cost(
    harness: WorkerHarness, api: MessagesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.replies = (says(),)
    sleeper = LIAR.partition("    with open(")[0] + "    import time; time.sleep(60)\n"
    let_children_run(sleeper, tmp_path, monkeypatch)

    outcome = worked(harness, api, timeout=4_000)

    assert (outcome.state, outcome.usage.input_tokens) == (TaskState.TIMED_OUT, 36)


def test_a_task_that_is_cancelled_says_what_it_cost(
    harness: WorkerHarness, api: MessagesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.replies = (says(),)
    spender = LIAR.partition("    with open(")[0] + BOASTS
    let_children_run(spender, tmp_path, monkeypatch)
    quiet = harness.quiet

    def cancel_once_spent() -> bool:
        if (tmp_path / "spent").exists() and not harness.task().cancel_requested:
            harness.change("a", cancel_requested=True)
        return quiet()

    monkeypatch.setattr(harness, "quiet", cancel_once_spent)
    harness.configure(visibility_extension_interval=200)
    outcome = worked(harness, api, maxCostUsd=1)

    assert (outcome.state, outcome.usage.input_tokens) == (TaskState.CANCELLED, 36)
    assert 0 < outcome.usage.cost_usd < 0.001
    summary, trace = harness.blob("logs/summary.log"), harness.blob("traces/session_trace.json")
    assert summary.startswith("counted   36 tokens in, 15 out, 9 from the cache, 0.0001 USD")
    assert "status    boasting" in summary
    assert "999" not in summary
    assert json.loads(trace)["counted"]["inputTokens"] == 36


def test_a_proxy_that_is_killed_costs_its_tasks_an_attempt_and_is_replaced(
    harness: WorkerHarness, api: MessagesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.replies = (hangs(), BLUE)
    let_children_run(ASKS_ONCE, tmp_path, monkeypatch)
    killed: list[int] = []
    quiet = harness.quiet

    def kill_once() -> bool:
        pid = harness.claude.process_id if harness.claude else None
        if api.requests and pid and not killed:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)
        return quiet()

    monkeypatch.setattr(harness, "quiet", kill_once)
    outcome = worked(harness, api)

    assert killed
    assert outcome.state is TaskState.COMPLETED
    assert harness.task().attempt == 2


def test_a_worker_without_the_sdks_says_what_is_missing(
    harness: WorkerHarness, api: MessagesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "h11.py").write_text("raise ModuleNotFoundError('none', name='h11')")
    paths = os.pathsep.join([str(tmp_path / "path"), str(REPOSITORY)])
    shared = str(REPOSITORY / "layers/shared/python")
    monkeypatch.setattr(
        "switchyard_worker.parent.claude.access.package_paths", lambda: f"{paths}:{shared}"
    )

    outcome = worked(harness, api)

    assert (outcome.state, outcome.error_category) == (TaskState.FAILED, FailureCategory.NOT_FOUND)
    assert "h11 is missing" in (outcome.error or "")


def test_the_proxy_ends_with_a_worker_that_is_killed() -> None:
    pytest.importorskip("h11")
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "layers/shared/python")])
    with subprocess.Popen(
        [sys.executable, "-m", "tests.worker.parent.claude.proxy_owner"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        line = next(line for line in owner.stdout if line.startswith("proxy "))
        proxy = psutil.Process(int(line.split()[1]))
        assert "sk-ant-canary" not in str(proxy.cmdline()) + str(proxy.environ())
        owner.kill()

    proxy.wait(timeout=10)


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can change users"
)
def test_a_child_finds_the_key_nowhere(python: str, folder: Path, users: range) -> None:
    pytest.importorskip("h11")
    program = ["-m", "tests.worker.parent.claude.key_hunter", str(folder)]
    ended = subprocess.run(
        ["/bin/sh", ENTRYPOINT, python, *program],
        cwd=REPOSITORY,
        env=ENVIRONMENT
        | OURS
        | agent_users(users)
        | {"HOME": str(folder), "OUTPUT_FOLDER": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr

    report = json.loads((folder / "report.json").read_text())
    assert report["state"] == "COMPLETED"
    assert report["token"]
    assert not report["key"]
    assert report["commands"] > 3  # it did look around, the proxy's command line included
    assert not report["environments"]
