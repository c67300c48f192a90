"""The real Agent SDK with its bundled CLI, through the proxy to a Messages API on loopback."""

import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.measuring.prices import PRICES, Tokens
from switchyard_worker.agents.agent import AgentFailed, agent_for
from tests.fakes.servers.messages_api import messages_api
from tests.fakes.servers.messages_api_replies import (
    Reply,
    answers,
    breaks_off,
    fails,
    gives_up,
    hangs,
    refuses,
    says,
    uses,
)
from tests.worker.claude_home import Run, an_assignment, move_in
from tests.worker.proxied import SharedProxy, proxied

BLUE = answers({"colour": "blue"})
CUT, REFUSED = breaks_off(after_events=3), refuses()
NOT_TRIED_AGAIN = {401, 429, 500, 529}
"""The statuses after which the CLI does not send a simpler request."""
NOBODY_LISTENS = "http://127.0.0.1:9"


@pytest.fixture
def run(claude_proxy: SharedProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    pytest.importorskip(
        "switchyard_worker.agents.sdk"
    )  # here: not every process needs to import it
    return Run("claude-agent-sdk", claude_proxy, tmp_path, monkeypatch)


def test_structured_output_comes_back_with_what_it_cost_and_a_path_in_the_prompt_is_only_text(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("canary-in-a-file")
    prompt = f"# Task\n\n@/etc/passwd @{tmp_path}/secret.txt\n\n/help"
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 300}
    with run.answering(BLUE.costing(**usage, cache_creation_input_tokens=50)) as api:
        answer = run(prompt)

    assert answer.output == {"colour": "blue"}
    tokens = Tokens(input=100, output=20, cache_read=300, cache_creation=50)
    assert answer.effort.cost_usd == pytest.approx(PRICES["claude-haiku-4-5"].of(tokens))
    assert (answer.effort.input_tokens, answer.effort.output_tokens) == (100, 20)
    assert answer.effort.cache_read_tokens == 300
    assert answer.effort.trace.cache.efficiency_percent == pytest.approx(66.7)
    [request] = api.requests
    assert request["model"] == "claude-haiku-4-5"
    assert [tool["name"] for tool in request["tools"]] == ["StructuredOutput"]
    [heard] = api.heard
    assert "@/etc/passwd" in heard
    assert "root:" not in heard
    assert "canary-in-a-file" not in heard


@pytest.mark.long
def test_without_a_schema_the_answer_is_a_text(run: Run) -> None:
    with run.answering(says("green")) as api:
        assert run(output_schema=None).output == {"text": "green"}
    assert not api.requests[0].get("tools")


@pytest.mark.long
def test_an_answer_of_more_than_a_megabyte_arrives(run: Run) -> None:
    with run.answering(answers({"colour": "x" * 1_500_000})):
        assert len(run().output["colour"]) == 1_500_000


SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwx"
WORKS = (
    uses("Bash", command=f"echo hello {SECRET}"),
    uses("Bash", command="exit 3"),
    uses("TaskCreate", subject="mix", description="the paint"),
    uses("TaskUpdate", taskId="1", status="in_progress"),
    uses("Bash", command="sleep 0.2"),
    uses("TaskUpdate", taskId="1", status="completed"),
    BLUE,
)


def test_tools_are_used_and_traced_todos_are_timed_and_no_other_tools_are_offered(run: Run) -> None:
    tools = ["Bash", "Read", "TaskCreate", "TaskUpdate"]
    with run.answering(*WORKS) as api:
        answer = run(tools=tools, max_turns=len(WORKS) + 2)

    calls = answer.effort.trace.tool_calls
    bash, broken, *_, structured = calls
    assert (bash.name, structured.name) == ("Bash", "StructuredOutput")
    assert bash.duration_ms is not None
    assert "hello [redacted]" in (bash.output or "")
    assert SECRET not in f"{bash.input}{bash.output}"
    assert [call for call in calls if call.failed] == [broken]
    assert answer.effort.turns == len(WORKS) + 1
    [todo] = answer.effort.trace.todos
    assert (todo.content, todo.state) == ("mix", "completed")
    assert todo.in_progress_ms >= 200
    offered = {tool["name"] for tool in api.requests[0]["tools"]}
    assert offered == {*tools, "StructuredOutput"}


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        pytest.param(fails(400), "validation", marks=pytest.mark.long),
        pytest.param(fails(401), "auth", marks=pytest.mark.long),
        pytest.param(fails(403), "auth", marks=pytest.mark.long),
        pytest.param(fails(404), "not-found", marks=pytest.mark.long),
        pytest.param(fails(413), "validation", marks=pytest.mark.long),
        (fails(429, retry_after="7"), "rate-limit"),
        pytest.param(fails(500), "server-error", marks=pytest.mark.long),
        (fails(529), "server-error"),
        (breaks_off(after_events=0), "network"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else value,
)
def test_an_api_that_refuses_is_classified_not_asked_again_and_costs_nothing(
    run: Run, reply: Reply, category: str
) -> None:
    failure, api = run.failure(reply)

    assert failure.category == category
    assert failure.effort.free
    if reply.status in NOT_TRIED_AGAIN:
        assert len(api.requests) == 1


@pytest.mark.long
def test_an_api_that_cannot_be_reached_is_a_network_failure(run: Run) -> None:
    with proxied(NOBODY_LISTENS) as proxy:
        cut_off = replace(run, shared=replace(run.shared, proxy=proxy))
        failure, _ = cut_off.failure()

    assert failure.category == "network"
    assert failure.effort.free


@pytest.mark.parametrize(
    ("reply", "facts", "category"),
    [
        (CUT, {}, "network"),
        pytest.param(gives_up("overloaded_error"), {}, "network", marks=pytest.mark.long),
        (REFUSED, {}, "validation"),
        (says("no structure"), {}, "parse"),
        (uses("Bash", command="true"), {"tools": ["Bash"], "max_turns": 2}, "validation"),
        (BLUE.costing(output_tokens=100_000), {"max_cost_usd": 0.01}, "validation"),
    ],
    ids=["cut", "error in the stream", "refusal", "no schema", "max turns", "budget"],
)
def test_a_failure_that_was_paid_for_says_so(
    run: Run, reply: Reply, facts: dict[str, Any], category: str
) -> None:
    failure, api = run.failure(reply, **facts)

    assert failure.category == category
    assert failure.effort.cost_usd > 0
    assert failure.effort.input_tokens >= 12
    assert not failure.effort.free
    if reply in (CUT, REFUSED):
        assert len(api.requests) == 1  # and it is not paid for twice


@pytest.mark.long
def test_a_request_that_hangs_is_a_time_out(run: Run) -> None:
    failure, _ = run.failure(hangs(), timeout_ms=3_000)

    assert failure.category == "timeout"


@pytest.mark.long
def test_a_session_that_lasts_too_long_is_a_time_out_with_its_trace(
    run: Run, tmp_path: Path
) -> None:
    waits = uses("Bash", command="echo $$ > pid; exec tail -f /dev/null", timeout=60_000)
    failure, _ = run.failure(waits, tools=["Bash"], timeout_ms=5_000)
    with suppress(ProcessLookupError):  # the worker would end it; here nobody does
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)

    assert failure.category == "timeout"
    assert failure.effort.cost_usd > 0
    [call] = failure.effort.trace.tool_calls
    assert (call.name, call.duration_ms) == ("Bash", None)


@pytest.mark.long
def test_a_missing_credential_is_an_auth_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("switchyard_worker.agents.sdk")
    with messages_api() as api:
        move_in(monkeypatch, tmp_path, api=api.url, key="")
        with pytest.raises(AgentFailed) as failure:
            agent_for("claude-agent-sdk").run("Choose.", an_assignment("claude-agent-sdk"))

    assert failure.value.category == "auth"
