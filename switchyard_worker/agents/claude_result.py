"""Reads the SDK's result: what it cost, and whether it failed although it claims success."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from switchyard.domain.measuring.prices import Tokens
from switchyard.domain.tasks.failures import FailureCategory, category_of_status
from switchyard_worker.agents.sdk import ResultMessage
from switchyard_worker.agents.spending import SessionSpending, spending


@dataclass(frozen=True, slots=True)
class ResultFailure:
    category: FailureCategory
    message: str


_BY_SUBTYPE: Final = {
    "error_max_turns": FailureCategory.VALIDATION,
    "error_max_budget_usd": FailureCategory.VALIDATION,
    "error_max_structured_output_retries": FailureCategory.PARSE,
}

# How the CLI names an API error that had no status. `server_error` is also a lost connection.
_BY_KIND: Final = {
    "authentication_failed": FailureCategory.AUTH,
    "billing_error": FailureCategory.AUTH,
    "rate_limit": FailureCategory.RATE_LIMIT,
    "invalid_request": FailureCategory.VALIDATION,
}


def failure_in(
    result: ResultMessage, *, kind: str | None, request_limit_ms: int, wants_structure: bool
) -> ResultFailure | None:
    """Return the failure of a result; one of the API has the subtype `success`, too.

    `kind` is what the last message of the assistant called its error, if it had one.
    """
    if result.stop_reason == "refusal":
        return ResultFailure(FailureCategory.VALIDATION, "Claude refused the task")
    if result.is_error:
        category = _category(result, kind, request_limit_ms)
        return ResultFailure(category, _message(result))
    if wants_structure and result.structured_output is None:
        return ResultFailure(FailureCategory.PARSE, "Claude answered without structured output")
    return None


def spending_of(result: ResultMessage, model: str) -> SessionSpending:
    """Add up the figures per model: the totals lack what a failure interrupted."""
    per_model: Mapping[str, Any] = result.model_usage or {}
    if not per_model:
        return spending({model: _session_tokens(result.usage or {})}, otherwise={})
    return spending(
        {name: _model_tokens(usage) for name, usage in per_model.items()},
        otherwise={name: usage.get("costUSD") or 0.0 for name, usage in per_model.items()},
    )


def _model_tokens(usage: Mapping[str, Any]) -> Tokens:
    return Tokens(
        input=usage.get("inputTokens") or 0,
        output=usage.get("outputTokens") or 0,
        cache_read=usage.get("cacheReadInputTokens") or 0,
        cache_creation=usage.get("cacheCreationInputTokens") or 0,
    )


def _session_tokens(usage: Mapping[str, Any]) -> Tokens:
    return Tokens(
        input=usage.get("input_tokens") or 0,
        output=usage.get("output_tokens") or 0,
        cache_read=usage.get("cache_read_input_tokens") or 0,
        cache_creation=usage.get("cache_creation_input_tokens") or 0,
    )


def _category(result: ResultMessage, kind: str | None, request_limit_ms: int) -> FailureCategory:
    if result.api_error_status is not None:
        return category_of_status(result.api_error_status)
    if result.terminal_reason != "api_error":
        return _BY_SUBTYPE.get(result.subtype, FailureCategory.SERVER_ERROR)
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if result.duration_ms >= request_limit_ms:
        return FailureCategory.TIMEOUT
    return FailureCategory.NETWORK


def _message(result: ResultMessage) -> str:
    return result.result or "; ".join(result.errors or ()) or result.subtype
