"""The real Claude SDK, in a real child, against a Messages API on loopback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.messages_api import MessagesApi, messages_api
from worker.child_environment import Credential, child_environment
from worker.task.assignment import Assignment

pytest.importorskip("claude_agent_sdk")

SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("artifacts", "logs", "traces"):
        (tmp_path / name).mkdir()
    return tmp_path


def outcome(api: MessagesApi, folder: Path, **facts: Any) -> Any:
    known: dict[str, Any] = {"tag": "painter", "description": "Choose.", "output_schema": SCHEMA}
    Assignment(
        request_id="r",
        attempt=1,
        backend="claude-agent-sdk",
        model="claude-haiku-4-5",
        max_turns=3,
        timeout_ms=30_000,
        **known | facts,
    ).write(folder)
    host = {"PATH": os.environ["PATH"], "HOME": str(folder), "ANTHROPIC_BASE_URL": api.url}
    credential = Credential("ANTHROPIC_API_KEY", "sk-test")
    subprocess.run(
        [sys.executable, "-P", "-m", "worker.task", str(folder)],
        cwd=folder,
        env=child_environment(host, folder, credential=credential),
        timeout=60,
        check=False,
    )
    return json.loads((folder / "outcome.json").read_text())


def test_structured_output_comes_back_with_what_it_cost(folder: Path) -> None:
    with messages_api(answer={"colour": "blue"}) as api:
        told = outcome(api, folder)

    assert (told["status"], told["output"]) == ("completed", {"colour": "blue"})
    assert told["usage"]["inputTokens"] == 12
    assert told["costUsd"] > 0
    [request] = api.requests
    assert request["model"] == "claude-haiku-4-5"
    assert [tool["name"] for tool in request["tools"]] == ["StructuredOutput"]
    [step] = json.loads((folder / "traces" / "session_trace.json").read_text())["steps"]
    assert [call["name"] for call in step["toolCalls"]] == ["StructuredOutput"]


def test_an_answer_without_the_structure_is_a_failure(folder: Path) -> None:
    with messages_api() as api:
        told = outcome(api, folder)

    assert (told["status"], told["category"]) == ("failed", "parse")
    assert told["costUsd"] > 0


@pytest.mark.parametrize(
    ("status", "category"),
    [(401, "auth"), (529, "server-error")],
)
def test_api_errors_are_classified_by_status_and_cost_one_request(
    folder: Path, status: int, category: str
) -> None:
    with messages_api(error_status=status) as api:
        told = outcome(api, folder)

    assert (told["status"], told["category"]) == ("failed", category)
    assert len(api.requests) == 1


def test_an_api_that_cannot_be_reached_is_a_network_failure(folder: Path) -> None:
    told = outcome(MessagesApi(url="http://127.0.0.1:9"), folder)

    assert (told["status"], told["category"]) == ("failed", "network")
