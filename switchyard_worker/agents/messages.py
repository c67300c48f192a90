"""Runs Claude through the Messages API: one question, one answer, no tools."""

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any, Final

from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    CredentialsError,
    transform_schema,
)
from anthropic.types import MessageDeltaUsage, RawMessageStreamEvent, Usage
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from httpx2 import TimeoutException, TransportError

from switchyard.domain.measuring.prices import Tokens, cost_of, output_tokens_for
from switchyard.domain.tasks.failures import FailureCategory, category_of_status
from switchyard_worker.agents.agent import AgentFailed, Answer, Effort
from switchyard_worker.agents.spending import estimated_tokens, spending
from switchyard_worker.agents.trace import Trace
from switchyard_worker.boundary import Assignment, session_limit_ms

API_KEY: Final = "ANTHROPIC_API_KEY"
MAX_TOKENS: Final = 32_000


class StreamedMessage:
    def __init__(self, model: str) -> None:
        self._model = model
        self._tokens = Tokens()
        self._text: list[str] = []
        self.stop_reason: str | None = None
        """The reason for the end; `None` until the message is whole."""

    @property
    def text(self) -> str:
        return "".join(self._text)

    def add(self, event: RawMessageStreamEvent) -> None:
        if event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            self._text.append(event.delta.text)
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason
            self._count(event.usage)

    def effort(self) -> Effort:
        spent = spending({self._model: self._tokens}, otherwise={})
        return spent.effort(turns=1 if self._tokens.read else 0, trace=Trace())

    def _count(self, usage: Usage | MessageDeltaUsage) -> None:
        """Take the latest figure of each kind: it is the sum of all before."""
        known = self._tokens
        self._tokens = Tokens(
            input=_latest(usage.input_tokens, known.input),
            output=_latest(usage.output_tokens, known.output),
            cache_read=_latest(usage.cache_read_input_tokens, known.cache_read),
            cache_creation=_latest(usage.cache_creation_input_tokens, known.cache_creation),
        )


def _latest(reported: int | None, known: int) -> int:
    return known if reported is None else reported


class MessagesAgent:
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        request = _request(prompt, assignment)
        streamed = StreamedMessage(assignment.model)
        try:
            asyncio.run(_ask(request, streamed, limit_ms=session_limit_ms(assignment.timeout_ms)))
        except TimeoutError as error:
            message = f"Claude did not answer within {assignment.timeout_ms:,} ms"
            raise AgentFailed(FailureCategory.TIMEOUT, message, effort=streamed.effort()) from error
        except (AnthropicError, TransportError) as error:
            raise AgentFailed(
                category_of_api_error(error),
                str(error),
                effort=streamed.effort(),
                retry_after_ms=retry_after_ms(error),
            ) from error
        return _answer(streamed, assignment, max_tokens=request["max_tokens"])


async def _ask(
    request: MessageCreateParamsStreaming, streamed: StreamedMessage, *, limit_ms: int
) -> None:
    # The key is passed on: left to itself the SDK would also look for one in files.
    seconds = limit_ms / 1000
    async with (
        asyncio.timeout(seconds),
        AsyncAnthropic(api_key=_api_key(), max_retries=0, timeout=seconds) as client,
        await client.messages.create(**request) as stream,
    ):
        async for event in stream:
            streamed.add(event)


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
    if assignment.max_tokens is not None:
        left = assignment.max_tokens - estimated_tokens(*read)
        if left <= 0:
            message = (
                f"maxTokens: {assignment.max_tokens:,} tokens are left, and the prompt has more"
            )
            raise AgentFailed(FailureCategory.VALIDATION, message)
        request["max_tokens"] = min(request["max_tokens"], left)
    return request


def _affordable_tokens(max_cost_usd: float, model: str, *, read: int) -> int:
    """Return how long the answer may be, once that many tokens were read."""
    asking = cost_of(model, Tokens(input=read)).usd
    affordable = None if asking is None else output_tokens_for(max_cost_usd - asking, model)
    if affordable is None:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            f"{model} has no price in our table: maxCostUsd cannot be enforced",
        )
    if affordable <= 0:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            f"{max_cost_usd} USD buy no answer of {model} to about {read:,} tokens",
        )
    return affordable


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema as the API takes it: closed, and with bounds written as text."""
    try:
        return transform_schema(dict(schema))
    except (AssertionError, AttributeError, TypeError, ValueError) as error:
        raise AgentFailed(
            FailureCategory.VALIDATION,
            f"the messages backend cannot ask for this output schema: {error}",
        ) from error


def _answer(streamed: StreamedMessage, assignment: Assignment, *, max_tokens: int) -> Answer:
    effort = streamed.effort()
    problem = stopped_short(streamed.stop_reason, max_tokens=max_tokens)
    if problem is not None:
        raise AgentFailed(*problem, effort=effort)
    if assignment.max_cost_usd is not None and effort.cost_usd > assignment.max_cost_usd:
        message = f"it cost {effort.cost_usd:.4f} USD of {assignment.max_cost_usd} allowed"
        raise AgentFailed(FailureCategory.VALIDATION, message, effort=effort)
    if assignment.output_schema is None:
        return Answer(output={"text": streamed.text}, effort=effort)
    try:
        return Answer(output=json.loads(streamed.text), effort=effort)
    except json.JSONDecodeError as error:
        message = f"Claude answered without structured output: {error}"
        raise AgentFailed(FailureCategory.PARSE, message, effort=effort) from error


# An error in the middle of a stream has no status: the answer had begun with 200.
_BY_ERROR_TYPE: Final = {
    "authentication_error": FailureCategory.AUTH,
    "billing_error": FailureCategory.AUTH,
    "permission_error": FailureCategory.AUTH,
    "invalid_request_error": FailureCategory.VALIDATION,
    "request_too_large": FailureCategory.VALIDATION,
    "not_found_error": FailureCategory.NOT_FOUND,
    "rate_limit_error": FailureCategory.RATE_LIMIT,
    "timeout_error": FailureCategory.TIMEOUT,
}

_BY_TYPE: Final[tuple[tuple[type[Exception], FailureCategory], ...]] = (
    (APITimeoutError, FailureCategory.TIMEOUT),
    (TimeoutException, FailureCategory.TIMEOUT),
    (APIConnectionError, FailureCategory.NETWORK),
    (TransportError, FailureCategory.NETWORK),
    (CredentialsError, FailureCategory.AUTH),
)


def category_of_api_error(error: AnthropicError | TransportError) -> FailureCategory:
    if isinstance(error, APIStatusError):
        if error.status_code >= 400:
            return category_of_status(error.status_code)
        return _BY_ERROR_TYPE.get(str(error.type), FailureCategory.SERVER_ERROR)
    for kind, category in _BY_TYPE:
        if isinstance(error, kind):
            return category
    return FailureCategory.SERVER_ERROR


def retry_after_ms(error: AnthropicError | TransportError) -> int | None:
    """Return how long the API asks to wait: its header has milliseconds, or seconds."""
    if not isinstance(error, APIStatusError):
        return None
    headers = error.response.headers
    for name, milliseconds in (("retry-after-ms", 1), ("retry-after", 1000)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit():
            return int(value) * milliseconds
    return None


def stopped_short(
    stop_reason: str | None, *, max_tokens: int
) -> tuple[FailureCategory, str] | None:
    """Return why a message is no answer; `None` if it is one."""
    match stop_reason:
        case "end_turn" | "stop_sequence":
            return None
        case None:
            return FailureCategory.NETWORK, "the answer broke off"
        case "refusal":
            return FailureCategory.VALIDATION, "Claude refused the task"
        case "max_tokens":
            message = f"the answer does not fit into {max_tokens:,} tokens"
            return FailureCategory.VALIDATION, message
    return FailureCategory.VALIDATION, f"Claude stopped with {stop_reason}"
