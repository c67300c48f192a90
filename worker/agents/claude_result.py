"""Reads the SDK's result: what it cost, and whether it failed although it says success."""

from dataclasses import dataclass
from typing import Final

from claude_agent_sdk import ResultMessage

from switchyard.domain.failures import FailureCategory, category_of_status
from worker.agents.agent import Effort


@dataclass(frozen=True, slots=True)
class ResultFailure:
    category: FailureCategory
    message: str


_BY_SUBTYPE: Final = {
    "error_max_turns": FailureCategory.VALIDATION,
    "error_max_budget_usd": FailureCategory.VALIDATION,
    "error_max_structured_output_retries": FailureCategory.PARSE,
}


def failure_in(result: ResultMessage, *, wants_structure: bool) -> ResultFailure | None:
    """An API failure has the subtype `success`, so the subtype alone says nothing."""
    if result.is_error:
        return ResultFailure(_category(result), _message(result))
    if result.stop_reason == "refusal":
        return ResultFailure(FailureCategory.VALIDATION, "Claude refused the task")
    if wants_structure and result.structured_output is None:
        return ResultFailure(FailureCategory.PARSE, "Claude answered without structured output")
    return None


def effort_of(result: ResultMessage) -> Effort:
    usage = result.usage or {}
    return Effort(
        turns=result.num_turns,
        input_tokens=usage.get("input_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=usage.get("cache_read_input_tokens") or 0,
        cache_creation_tokens=usage.get("cache_creation_input_tokens") or 0,
        cost_usd=result.total_cost_usd or 0.0,
    )


def _category(result: ResultMessage) -> FailureCategory:
    if result.api_error_status is not None:
        return category_of_status(result.api_error_status)
    if result.terminal_reason == "api_error":  # no status: the API was never reached
        return FailureCategory.NETWORK
    return _BY_SUBTYPE.get(result.subtype, FailureCategory.SERVER_ERROR)


def _message(result: ResultMessage) -> str:
    return result.result or "; ".join(result.errors or ()) or result.subtype
