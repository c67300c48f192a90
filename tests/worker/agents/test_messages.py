"""The real `anthropic` SDK, through the proxy, against a Messages API on loopback."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.measuring.prices import PRICES, Tokens
from switchyard_worker.agents.agent import AgentFailed, agent_for
from switchyard_worker.agents.spending import BYTES_PER_TOKEN
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
)
from tests.worker.claude_home import API_KEY, Run, an_assignment, move_in
from tests.worker.proxied import SharedProxy, proxied

BLUE = answers({"colour": "blue"})
NOBODY_LISTENS = "http://127.0.0.1:9"


@pytest.fixture
def run(claude_proxy: SharedProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    pytest.importorskip("anthropic")  # here: not every process needs to import it
    return Run("messages", claude_proxy, tmp_path, monkeypatch)


def test_structured_output_comes_back_with_what_it_cost(run: Run) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 300}
    with run.answering(BLUE.costing(**usage, cache_creation_input_tokens=50)) as api:
        answer = run()

    assert answer.output == {"colour": "blue"}
    tokens = Tokens(input=100, output=20, cache_read=300, cache_creation=50)
    assert answer.effort.cost_usd == pytest.approx(PRICES["claude-haiku-4-5"].of(tokens))
    assert (answer.effort.turns, answer.effort.input_tokens) == (1, 100)
    assert answer.effort.trace.cache.efficiency_percent == pytest.approx(66.7)
    [request] = api.requests
    assert (request["model"], request["max_tokens"]) == ("claude-haiku-4-5", 32_000)
    assert "tools" not in request
    asked = request["output_config"]["format"]
    assert (asked["type"], asked["schema"]["additionalProperties"]) == ("json_schema", False)


def test_without_a_schema_the_answer_is_a_text(run: Run) -> None:
    with run.answering(says("green")) as api:
        assert run(output_schema=None).output == {"text": "green"}
    assert "output_config" not in api.requests[0]


def test_a_model_without_a_price_costs_nothing_and_says_so(run: Run) -> None:
    with run.answering(BLUE):
        effort = run(model="claude-unheard-of").effort

    assert effort.cost_usd == 0
    assert "claude-unheard-of has no price" in (effort.trace.note or "")
    assert not effort.free


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        (fails(400), "validation"),
        (fails(401), "auth"),
        (fails(403), "auth"),
        (fails(404), "not-found"),
        (fails(413), "validation"),
        (fails(429), "rate-limit"),
        (fails(500), "server-error"),
        (fails(529), "server-error"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else value,
)
def test_an_api_that_refuses_is_classified_and_asked_once(
    run: Run, reply: Reply, category: str
) -> None:
    failure, api = run.failure(reply)

    assert failure.category == category
    assert failure.effort.free
    assert failure.retry_after_ms is None
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("header", "emitted", "milliseconds"),
    [
        ("retry-after", "7", 7_000),
        ("retry-after-ms", "250", 250),
        ("retry-after", "-3", None),
        ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_how_long_the_api_asks_to_wait_is_passed_on(
    run: Run, header: str, emitted: str, milliseconds: int | None
) -> None:
    failure, _ = run.failure(Reply(status=429, headers={header: emitted}))

    assert failure.category == "rate-limit"
    assert failure.retry_after_ms == milliseconds


def test_an_api_that_cannot_be_reached_is_a_network_failure(run: Run) -> None:
    with proxied(NOBODY_LISTENS) as proxy:
        cut_off = replace(run, shared=replace(run.shared, proxy=proxy))
        failure, _ = cut_off.failure()

    assert failure.category == "network"
    assert failure.effort.free


@pytest.mark.parametrize(
    ("reply", "facts", "category"),
    [
        (breaks_off(after_events=3), {}, "network"),
        (breaks_off(after_events=3, announced=True), {}, "network"),
        (gives_up("overloaded_error"), {}, "server-error"),
        (gives_up("rate_limit_error"), {}, "rate-limit"),
        (gives_up("invalid_request_error"), {}, "validation"),
        (refuses(), {}, "validation"),
        (Reply(stop_reason="max_tokens"), {}, "validation"),
        (says("no structure"), {}, "parse"),
        (BLUE.costing(input_tokens=100_000), {"max_cost_usd": 0.01}, "validation"),
    ],
    ids=[
        "ends early",
        "cut",
        "overloaded in the stream",
        "limited in the stream",
        "invalid in the stream",
        "refusal",
        "too long",
        "no schema",
        "budget",
    ],
)
def test_a_failure_that_was_paid_for_says_so(
    run: Run, reply: Reply, facts: dict[str, Any], category: str
) -> None:
    failure, api = run.failure(reply, **facts)

    assert failure.category == category
    assert failure.effort.cost_usd > 0
    assert failure.effort.input_tokens >= 12
    assert len(api.requests) == 1


def test_an_answer_before_its_first_event_is_cut_at_no_cost(run: Run) -> None:
    failure, _ = run.failure(breaks_off(after_events=0))

    assert failure.category == "network"
    assert failure.effort.free


def test_an_api_that_hangs_is_a_time_out(run: Run) -> None:
    failure, _ = run.failure(hangs(), timeout_ms=1_000)

    assert failure.category == "timeout"


@pytest.mark.parametrize("prompt", ["Choose.", "é" * 15_000], ids=["short", "long"])
def test_a_budget_bounds_prompt_and_answer_together(run: Run, prompt: str) -> None:
    with run.answering(says("green")) as api:
        run(prompt, max_cost_usd=0.05, output_schema=None)

    read = len(prompt.encode()) / BYTES_PER_TOKEN
    written = api.requests[0]["max_tokens"]
    price = PRICES["claude-haiku-4-5"]
    assert (read * price.input + written * price.output) / 1e6 == pytest.approx(0.05, rel=1e-3)
    assert (read * price.input + written * price.output) / 1e6 <= 0.05


def test_a_schema_is_paid_for_like_the_prompt(run: Run) -> None:
    schema = {"type": "object", "properties": {}, "description": "x" * 15_000}
    with run.answering(BLUE) as api:
        run(max_cost_usd=0.05, output_schema=schema)

    assert api.requests[0]["max_tokens"] == pytest.approx(9_000, abs=100)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"tools": ["Read"]}, "has no tools"),
        ({"max_cost_usd": 0.0000001}, "buy no answer"),
        ({"max_cost_usd": 0.01, "prompt": "x" * 30_001}, "buy no answer"),
        ({"max_cost_usd": 1.0, "model": "claude-unheard-of"}, "has no price"),
        ({"output_schema": {"properties": {}}}, "cannot ask for this output schema"),
        ({"output_schema": {"type": ["null", "string"]}}, "cannot ask for this output schema"),
        ({"output_schema": {"type": "object", "properties": {"a": True}}}, "cannot ask for this"),
    ],
)
def test_what_it_cannot_do_is_said_before_anything_is_paid(
    run: Run, facts: dict[str, Any], reason: str
) -> None:
    failure, api = run.failure(BLUE, **facts)

    assert failure.category == "validation"
    assert reason in str(failure)
    assert not api.requests


def test_a_missing_key_is_an_auth_failure_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anthropic")
    with messages_api(BLUE) as api:
        move_in(monkeypatch, tmp_path, api=api.url, key="")
        with pytest.raises(AgentFailed) as failure:
            agent_for("messages").run("Choose.", an_assignment("messages"))

    assert failure.value.category == "auth"
    assert not api.requests


def test_the_key_goes_where_it_belongs_and_nothing_else_goes_with_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with messages_api(BLUE) as api:
        move_in(monkeypatch, tmp_path, api=api.url)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-in-the-environment")
        agent_for("messages").run("@/etc/passwd", an_assignment("messages"))

    [heard] = api.heard
    assert f"Bearer {API_KEY}" in heard
    assert "canary" not in heard
    assert "@/etc/passwd" in heard
    assert "root:" not in heard
