"""An attempt stays under its cap: what an answer can cost at most is reserved beforehand."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import pytest

from switchyard.domain.measuring.prices import PRICES, WEB_SEARCH_USD, Tokens
from switchyard_worker.parent.claude.link import ClaudeAccess
from tests.fakes.servers.messages_api import MessagesApi
from tests.fakes.servers.messages_api_replies import Reply, breaks_off, fails, gives_up, says
from tests.worker.proxied import (
    HAIKU,
    QUESTION,
    Answered,
    Proxied,
    SharedProxy,
    ask,
    proxied,
)

PRICE = PRICES[HAIKU]
DEAREST = says().costing(input_tokens=100, output_tokens=1_000, cache_read_input_tokens=0)
COST = PRICE.of(Tokens(input=100, output=1_000))

ATask = Callable[..., AbstractContextManager[tuple[MessagesApi, Proxied, ClaudeAccess]]]


@pytest.fixture
def a_task(claude_proxy: SharedProxy) -> ATask:
    return claude_proxy.a_task


@pytest.mark.parametrize("stream", [False, True])
def test_fifty_requests_at_once_stay_under_the_cap(a_task: ATask, stream: bool) -> None:
    question = QUESTION | {"stream": stream}
    with a_task(DEAREST, cap_usd=0.05) as (api, proxy, access):
        api.input_tokens = 100
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: ask(access, question), range(50)))
        proxy.revoke(access)

    passed = [answer for answer in answers if answer.status == 200]
    assert len(api.requests) == len(passed)
    assert access.usage.cost_usd == pytest.approx(len(passed) * COST)
    assert 0.04 < access.usage.cost_usd <= 0.05
    refused = next(answer for answer in answers if answer.status != 200)
    assert (refused.status, refused.error[0]) == (400, "invalid_request_error")
    assert "maxCostUsd of this task is reached: spent $0.0" in refused.error[1]
    assert "cap $0.050000" in refused.error[1]
    assert refused.headers["x-should-retry"] == "false"
    assert access.spent.stopped == refused.error[1]
    assert access.refusals["cost"] == 50 - len(passed)


def test_the_cap_of_one_task_is_not_anothers(a_task: ATask) -> None:
    with a_task(DEAREST, cap_usd=0.008) as (_, proxy, access):
        other = proxy.open(cap_usd=0.008)
        assert [ask(access).status, ask(access).status, ask(other).status] == [200, 400, 200]


def test_a_long_text_is_counted_by_the_api_before_it_is_refused(a_task: ATask) -> None:
    long = QUESTION | {"messages": [{"role": "user", "content": "word " * 10_000}]}
    with a_task(DEAREST, cap_usd=0.02) as (api, _, access):
        api.input_tokens = 8_000
        assert ask(access, long).status == 200
        assert "max_tokens" not in api.counted[0]
        api.input_tokens = 30_000
        assert ask(access, long).status == 400

    assert len(api.requests) == 1


def test_a_short_text_is_not_counted(a_task: ATask) -> None:
    with a_task(DEAREST, cap_usd=1.0) as (api, _, access):
        ask(access)
        assert not api.counted


def test_an_api_that_cannot_count_says_so_itself(a_task: ATask) -> None:
    with a_task(DEAREST, cap_usd=0.012) as (api, _, access):
        api.count_status = 529
        assert ask(access).status == 529

    assert not api.requests


def test_a_long_answer_is_shortened_to_what_is_left(a_task: ATask) -> None:
    wide = QUESTION | {
        "max_tokens": 32_000,
        "thinking": {"type": "enabled", "budget_tokens": 31_999},
    }
    with a_task(DEAREST, cap_usd=0.05) as (api, _, access):
        api.input_tokens = 100
        assert ask(access, wide).status == 200

    [sent] = api.requests
    assert 8_000 < sent["max_tokens"] < 10_000
    assert 1_024 <= sent["thinking"]["budget_tokens"] < sent["max_tokens"]


def test_an_answer_is_not_shortened_to_nothing(a_task: ATask) -> None:
    with a_task(DEAREST, cap_usd=0.005) as (api, _, access):
        answered = ask(access, QUESTION | {"max_tokens": 32_000})

    assert answered.status == 400
    assert not api.requests


def test_an_answer_that_broke_off_keeps_its_reservation(a_task: ATask) -> None:
    stream = QUESTION | {"stream": True}
    with a_task(breaks_off(after_events=3), DEAREST, cap_usd=0.02) as (_, proxy, access):
        ask(access, stream)
        proxy.revoke(access)

    reported = PRICE.of(Tokens(input=12, output=1, cache_read=3))
    assert access.usage.cost_usd == pytest.approx(reported)
    assert access.spent.uncertain_usd >= 1_000 * PRICE.output / 1e6 - reported


@pytest.mark.parametrize("reply", [breaks_off(after_events=3), gives_up("overloaded_error")])
def test_answers_that_break_off_use_the_cap_up(a_task: ATask, reply: Reply) -> None:
    stream = QUESTION | {"stream": True}
    with a_task(reply, cap_usd=0.02) as (api, _, access):
        api.input_tokens = 100
        statuses = [ask(access, stream).status for _ in range(6)]

    assert statuses[-1] == 400
    assert len(api.requests) <= 4


def test_an_error_of_the_api_costs_nothing(a_task: ATask) -> None:
    with a_task(fails(500), cap_usd=0.02) as (_, proxy, access):
        assert [ask(access).status for _ in range(5)] == [500] * 5
        proxy.revoke(access)

    assert (access.usage.cost_usd, access.spent.uncertain_usd) == (0, 0)


def test_an_api_that_cannot_be_reached_costs_nothing() -> None:
    pytest.importorskip("h11")
    with proxied("http://127.0.0.1:9") as proxy:
        access = proxy.open(cap_usd=0.02)
        for _ in range(3):
            with pytest.raises(IndexError):
                ask(access)  # no answer at all, as without a proxy
        proxy.revoke(access)

    assert access.spent.uncertain_usd == 0
    assert access.refusals == {"upstream": 3}


def test_what_is_cached_for_an_hour_is_dearer_beforehand_and_afterwards(a_task: ATask) -> None:
    hour: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    content = [{"type": "text", "text": "x" * 4_000, **hour}]
    long = QUESTION | {"messages": [{"role": "user", "content": content}]}
    created = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 1_000}
    reply = DEAREST.costing(cache_creation_input_tokens=1_100, cache_creation=created)
    with a_task(reply, cap_usd=1.0) as (_, proxy, access):
        ask(access, long)
        proxy.revoke(access)

    extra = (100 * 1.25 + 1_000 * 2) * PRICE.input / 1e6
    assert access.usage.cost_usd == pytest.approx(COST + extra)


def test_figures_in_a_stream_are_sums_and_counted_once(a_task: ATask) -> None:
    with a_task(DEAREST, cap_usd=1.0) as (_, proxy, access):
        for _ in range(3):
            ask(access, QUESTION | {"stream": True})
        proxy.revoke(access)

    assert (access.usage.input_tokens, access.usage.output_tokens) == (300, 3_000)


def test_a_model_without_a_price_is_refused_under_a_cap_only(a_task: ATask) -> None:
    unknown = QUESTION | {"model": "claude-unheard-of"}
    with a_task(DEAREST, cap_usd=1.0, models=["claude-unheard-of"]) as (_, proxy, access):
        capped = ask(access, unknown)
        free = proxy.open(models=["claude-unheard-of"])
        assert ask(free, unknown).status == 200

    assert capped.status == 400
    assert "claude-unheard-of has no price in our table" in capped.error[1]


def test_an_input_whose_price_is_unknown_is_refused_under_a_cap(a_task: ATask) -> None:
    long = QUESTION | {"model": "claude-haiku-5-5", "messages": [{"role": "user", "content": "x"}]}
    with a_task(DEAREST, cap_usd=100.0, models=["claude-haiku-5-5"]) as (api, _, access):
        assert ask(access, long).status == 200
        api.input_tokens = 100_001
        longer = long | {"messages": [{"role": "user", "content": "x" * 100_001}]}
        refused = ask(access, longer)

    assert refused.status == 400
    assert "above 100,000 input tokens" in refused.error[1]


SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 50}


def test_searches_are_bounded_and_paid_for(a_task: ATask) -> None:
    searching = QUESTION | {"tools": [SEARCH]}
    reply = DEAREST.costing(server_tool_use={"web_search_requests": 2})
    with a_task(reply, cap_usd=5.0, web_search=True) as (api, proxy, access):
        assert ask(access, searching).status == 200
        proxy.revoke(access)

    assert api.requests[0]["tools"][0]["max_uses"] <= 3  # each may read the whole context again
    assert access.usage.cost_usd == pytest.approx(COST + 2 * WEB_SEARCH_USD)


def image(data: str) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


def question(*blocks: Any, **fields: Any) -> dict[str, Any]:
    return QUESTION | {"messages": [{"role": "user", "content": list(blocks)}]} | fields


def test_an_image_is_not_paid_for_by_its_bytes(a_task: ATask) -> None:
    with a_task(DEAREST, cap_usd=0.05) as (api, _, access):
        assert ask(access, question(image("A" * 1_000_000))).status == 200
        assert not api.counted


def test_what_looks_like_an_image_within_a_tools_input_is_text(a_task: ATask) -> None:
    """It would be read as text, and charged as such."""
    use = {"type": "tool_use", "id": "t", "name": "n", "input": image("word " * 200_000)}
    with a_task(DEAREST, cap_usd=0.05) as (api, _, access):
        api.input_tokens = 200_000
        assert ask(access, question(use)).status == 400

    assert not api.requests


def test_a_document_is_counted_by_the_api(a_task: ATask) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    with a_task(DEAREST, cap_usd=0.05) as (api, _, access):
        api.input_tokens = 500_000
        assert ask(access, question({"type": "document", "source": source})).status == 400
        assert api.counted


ADDED = {"type": "tool_addition", "tool": {"type": "code_execution_20250825", "name": "x"}}


@pytest.mark.parametrize(
    "asked",
    [
        question(tools=[SEARCH]),
        question(tools=[{"type": "web_fetch_20250910", "name": "web_fetch"}]),
        question(tools=[{"type": "code_execution_20250825", "name": "code_execution"}]),
        question(tools=[{"type": "advisor_20260301", "name": "a", "model": "claude-opus-5-5"}]),
        question(tools=[{"type": "mcp_toolset", "mcp_server_name": "x"}]),
        question(ADDED),
        question({"type": "image", "source": {"type": "url", "url": "https://x"}}),
        question({"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
        question({"type": "container_upload", "file_id": "file_1"}),
        question(mcp_servers=[{"type": "url", "url": "https://x", "name": "x"}]),
        question(container="c"),
        question(speed="fast"),
        question(inference_geo="us"),
        question(fallbacks=[{"model": "claude-opus-5-5"}]),
        question(thread="t"),
        question(compaction={}),
        question(context_management={"edits": [{"type": "compact_20260112"}]}),
        question(tools={"type": "x"}),
    ],
    ids=lambda asked: json.dumps({k: v for k, v in asked.items() if k not in QUESTION})[:60],
)
def test_what_has_no_bound_on_its_cost_is_refused(a_task: ATask, asked: Any) -> None:
    with a_task(DEAREST, cap_usd=1.0) as (api, _, access):
        answered: Answered = ask(access, asked)

    assert (answered.status, answered.error[0]) == (400, "invalid_request_error")
    assert not api.requests


def test_a_search_hidden_in_a_message_is_refused_even_where_searching_is_allowed(
    a_task: ATask,
) -> None:
    hidden = {"type": "tool_addition", "tool": SEARCH}
    with a_task(DEAREST, cap_usd=50.0, web_search=True) as (api, _, access):
        assert ask(access, question(hidden)).status == 400
        assert ask(access, question(hidden, tools=[SEARCH])).status == 400
        assert ask(access, question(tools=[SEARCH, SEARCH])).status == 400

    assert not api.requests
