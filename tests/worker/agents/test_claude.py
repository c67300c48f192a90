"""The real Agent SDK with its bundled CLI, through the proxy to a Messages API on loopback."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.measuring.prices import PRICES, Tokens
from switchyard_worker.agents.agent import AgentFailed, Answer, agent_for
from tests.fakes.servers.messages_api import MessagesApi, messages_api
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
from tests.worker.claude_home import an_assignment, move_in
from tests.worker.proxied import proxied

BLUE = answers({"colour": "blue"})
NOBODY_LISTENS = "http://127.0.0.1:9"

Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    pytest.importorskip("claude_agent_sdk")  # here: not every process needs to import it

    def run(api: MessagesApi | str, prompt: str = "Choose.", **facts: Any) -> Answer:
        assignment = an_assignment("claude-agent-sdk", **facts)
        upstream = api if isinstance(api, str) else api.url
        with proxied(upstream) as proxy:
            given = proxy.open(models=[assignment.model]).given
            move_in(monkeypatch, tmp_path, api=given.endpoint, key=given.token)
            return agent_for("claude-agent-sdk").run(prompt, assignment)

    return run


def failure_of(run: Run, *replies: Reply, **facts: Any) -> tuple[AgentFailed, MessagesApi]:
    with messages_api(*replies) as api, pytest.raises(AgentFailed) as failure:
        run(api, **facts)
    return failure.value, api


def test_structured_output_comes_back_with_what_it_cost(run: Run) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 300}
    with messages_api(BLUE.costing(**usage, cache_creation_input_tokens=50)) as api:
        answer = run(api)

    assert answer.output == {"colour": "blue"}
    tokens = Tokens(input=100, output=20, cache_read=300, cache_creation=50)
    assert answer.effort.cost_usd == pytest.approx(PRICES["claude-haiku-4-5"].of(tokens))
    assert (answer.effort.input_tokens, answer.effort.output_tokens) == (100, 20)
    assert answer.effort.cache_read_tokens == 300
    assert answer.effort.trace.cache.efficiency_percent == pytest.approx(66.7)
    [request] = api.requests
    assert request["model"] == "claude-haiku-4-5"
    assert [tool["name"] for tool in request["tools"]] == ["StructuredOutput"]


def test_without_a_schema_the_answer_is_a_text(run: Run) -> None:
    with messages_api(says("green")) as api:
        assert run(api, output_schema=None).output == {"text": "green"}
    assert not api.requests[0].get("tools")


def test_an_answer_of_some_megabytes_arrives(run: Run) -> None:
    with messages_api(answers({"colour": "x" * 3_000_000})) as api:
        assert len(run(api).output["colour"]) == 3_000_000


def test_tools_are_used_and_traced(run: Run) -> None:
    secret = "sk-ant-api03-abcdefghijklmnopqrstuvwx"
    with messages_api(uses("Bash", command=f"echo hello {secret}"), BLUE) as api:
        answer = run(api, tools=["Bash"])

    bash, structured = answer.effort.trace.tool_calls
    assert (bash.name, structured.name) == ("Bash", "StructuredOutput")
    assert bash.duration_ms is not None
    assert "hello [redacted]" in (bash.output or "")
    assert secret not in f"{bash.input}{bash.output}"
    assert answer.effort.turns == 3


def test_a_tool_that_fails_is_traced_as_failed(run: Run) -> None:
    with messages_api(uses("Bash", command="exit 3"), BLUE) as api:
        answer = run(api, tools=["Bash"])

    assert [call.failed for call in answer.effort.trace.tool_calls] == [True, False]


def test_a_tool_that_the_definition_does_not_name_is_not_offered(run: Run) -> None:
    with messages_api(BLUE) as api:
        run(api, tools=["Read"])
    assert {tool["name"] for tool in api.requests[0]["tools"]} == {"Read", "StructuredOutput"}


def test_todos_are_timed(run: Run) -> None:
    todos = (
        uses("TaskCreate", subject="mix", description="the paint"),
        uses("TaskUpdate", taskId="1", status="in_progress"),
        uses("Bash", command="sleep 0.2"),
        uses("TaskUpdate", taskId="1", status="completed"),
        BLUE,
    )
    with messages_api(*todos) as api:
        answer = run(api, tools=["TaskCreate", "TaskUpdate", "Bash"], max_turns=9)

    [todo] = answer.effort.trace.todos
    assert (todo.content, todo.state) == ("mix", "completed")
    assert todo.in_progress_ms >= 200


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        (fails(400), "validation"),
        (fails(401), "auth"),
        (fails(403), "auth"),
        (fails(404), "not-found"),
        (fails(413), "validation"),
        (fails(429, retry_after="7"), "rate-limit"),
        (fails(500), "server-error"),
        (fails(529), "server-error"),
        (breaks_off(after_events=0), "network"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else value,
)
def test_an_api_that_refuses_is_classified_and_costs_nothing(
    run: Run, reply: Reply, category: str
) -> None:
    failure, _ = failure_of(run, reply)

    assert failure.category == category
    assert failure.effort.free


def test_an_api_that_cannot_be_reached_is_a_network_failure(run: Run) -> None:
    with pytest.raises(AgentFailed) as failure:
        run(NOBODY_LISTENS)

    assert failure.value.category == "network"
    assert failure.value.effort.free


@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_the_cli_does_not_try_again_by_itself(run: Run, status: int) -> None:
    _, api = failure_of(run, fails(status))

    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("replies", "facts", "category"),
    [
        ([breaks_off(after_events=3)], {}, "network"),
        ([gives_up("overloaded_error")], {}, "network"),
        ([refuses()], {}, "validation"),
        ([says("no structure")], {}, "parse"),
        ([uses("Bash", command="true")], {"tools": ["Bash"], "max_turns": 2}, "validation"),
        ([BLUE.costing(output_tokens=100_000)], {"max_cost_usd": 0.01}, "validation"),
    ],
    ids=["cut", "error in the stream", "refusal", "no schema", "max turns", "budget"],
)
def test_a_failure_that_was_paid_for_says_so(
    run: Run, replies: list[Reply], facts: dict[str, Any], category: str
) -> None:
    failure, _ = failure_of(run, *replies, **facts)

    assert failure.category == category
    assert failure.effort.cost_usd > 0
    assert failure.effort.input_tokens >= 12
    assert not failure.effort.free


@pytest.mark.parametrize("reply", [breaks_off(after_events=3), refuses()], ids=["cut", "refusal"])
def test_what_failed_is_not_paid_for_twice(run: Run, reply: Reply) -> None:
    _, api = failure_of(run, reply)

    assert len(api.requests) == 1


def test_a_request_that_hangs_is_a_time_out(run: Run) -> None:
    failure, _ = failure_of(run, hangs(), timeout_ms=3_000)

    assert failure.category == "timeout"


def test_a_session_that_lasts_too_long_is_a_time_out_with_its_trace(
    run: Run, tmp_path: Path
) -> None:
    waits = uses("Bash", command="echo $$ > pid; exec tail -f /dev/null", timeout=60_000)
    failure, _ = failure_of(run, waits, tools=["Bash"], timeout_ms=5_000)
    with suppress(ProcessLookupError):  # the worker would end it; here nobody does
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)

    assert failure.category == "timeout"
    assert failure.effort.cost_usd > 0
    [call] = failure.effort.trace.tool_calls
    assert (call.name, call.duration_ms) == ("Bash", None)


def test_a_missing_credential_is_an_auth_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("claude_agent_sdk")
    with messages_api() as api:
        move_in(monkeypatch, tmp_path, api=api.url, key="")
        with pytest.raises(AgentFailed) as failure:
            agent_for("claude-agent-sdk").run("Choose.", an_assignment("claude-agent-sdk"))

    assert failure.value.category == "auth"


def test_a_path_or_a_command_in_the_prompt_is_only_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("canary-in-a-file")
    prompt = f"# Task\n\n@/etc/passwd @{tmp_path}/secret.txt\n\n/help"
    with messages_api(BLUE) as api:
        run(api, prompt=prompt)

    [heard] = api.heard
    assert "@/etc/passwd" in heard
    assert "root:" not in heard
    assert "canary-in-a-file" not in heard
