"""Claude, through the Messages API: one question, one answer, no tools, no second process."""

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any, Final

from anthropic import AnthropicError, AsyncAnthropic, transform_schema
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from httpx2 import TransportError

from switchyard.domain.measuring.prices import Tokens, cost_of, output_tokens_for
from switchyard.domain.tasks.failures import FailureCategory
from worker.agents.agent import AgentFailed, Answer
from worker.agents.message_failures import category_of_api_error, retry_after_ms, stopped_short
from worker.agents.message_heard import MessageHeard
from worker.agents.spending import estimated_tokens
from worker.agents.time_limits import session_limit_ms
from worker.task.assignment import Assignment

API_KEY: Final = "ANTHROPIC_API_KEY"
MAX_TOKENS: Final = 32_000


class MessagesAgent:
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        request = _request(prompt, assignment)
        heard = MessageHeard(assignment.model)
        try:
            asyncio.run(_ask(request, heard, limit_ms=session_limit_ms(assignment.timeout_ms)))
        except TimeoutError as error:
            message = f"Claude did not answer within {assignment.timeout_ms:,} ms"
            raise AgentFailed(FailureCategory.TIMEOUT, message, effort=heard.effort()) from error
        except (AnthropicError, TransportError) as error:
            raise AgentFailed(
                category_of_api_error(error),
                str(error),
                effort=heard.effort(),
                retry_after_ms=retry_after_ms(error),
            ) from error
        return _answer(heard, assignment, max_tokens=request["max_tokens"])


async def _ask(
    request: MessageCreateParamsStreaming, heard: MessageHeard, *, limit_ms: int
) -> None:
    # The key is passed on: left to itself the SDK would also look for one in files.
    seconds = limit_ms / 1000
    async with (
        asyncio.timeout(seconds),
        AsyncAnthropic(api_key=_api_key(), max_retries=0, timeout=seconds) as client,
        await client.messages.create(**request) as stream,
    ):
        async for event in stream:
            heard.hear(event)


def _api_key() -> str:
    key = os.environ.get(API_KEY)
    if not key:
        raise AgentFailed(FailureCategory.AUTH, f"the messages backend needs {API_KEY}")
    return key


def _request(prompt: str, assignment: Assignment) -> MessageCreateParamsStreaming:
    if assignment.tools:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            "the messages backend has no tools: choose claude-agent-sdk, or name none",
        )
    request: MessageCreateParamsStreaming = {
        "model": assignment.model,
        "max_tokens": MAX_TOKENS,
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
    }
    read = [prompt]
    if assignment.output_schema is not None:
        schema = _strict(assignment.output_schema)
        request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        read.append(json.dumps(schema))
    if assignment.max_cost_usd is not None:
        affordable = _affordable_tokens(
            assignment.max_cost_usd, assignment.model, read=estimated_tokens(*read)
        )
        request["max_tokens"] = min(MAX_TOKENS, affordable)
    return request


def _affordable_tokens(max_cost_usd: float, model: str, *, read: int) -> int:
    """How long the answer may be, once that many tokens were read."""
    asking = cost_of(model, Tokens(input=read)).usd
    affordable = None if asking is None else output_tokens_for(max_cost_usd - asking, model)
    if affordable is None:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            f"{model} has no price in our table: maxCostUsd cannot be kept",
        )
    if affordable <= 0:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            f"{max_cost_usd} USD buy no answer of {model} to about {read:,} tokens",
        )
    return affordable


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as the API takes it: closed, and with bounds told in words."""
    try:
        return transform_schema(dict(schema))
    except (AssertionError, AttributeError, TypeError, ValueError) as error:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            f"the messages backend cannot ask for this output schema: {error}",
        ) from error


def _answer(heard: MessageHeard, assignment: Assignment, *, max_tokens: int) -> Answer:
    effort = heard.effort()
    problem = stopped_short(heard.stop_reason, max_tokens=max_tokens)
    if problem is not None:
        raise AgentFailed(*problem, effort=effort)
    if assignment.max_cost_usd is not None and effort.cost_usd > assignment.max_cost_usd:
        message = f"it cost {effort.cost_usd:.4f} USD of {assignment.max_cost_usd} allowed"
        raise AgentFailed(FailureCategory.VALIDATION, message, effort=effort)
    if assignment.output_schema is None:
        return Answer(output={"text": heard.text}, effort=effort)
    try:
        return Answer(output=json.loads(heard.text), effort=effort)
    except json.JSONDecodeError as error:
        message = f"Claude answered without structured output: {error}"
        raise AgentFailed(FailureCategory.PARSE, message, effort=effort) from error
