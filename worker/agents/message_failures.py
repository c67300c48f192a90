"""What went wrong with a message, told by types, status codes and stop reasons."""

from typing import Final

from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    CredentialsError,
)
from httpx2 import TimeoutException, TransportError

from switchyard.domain.tasks.failures import FailureCategory, category_of_status

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
    """How long the API asks us to wait: in milliseconds, or in seconds."""
    if not isinstance(error, APIStatusError):
        return None
    headers = error.response.headers
    for name, milliseconds in (("retry-after-ms", 1), ("retry-after", 1000)):
        told = headers.get(name, "")
        if told.isascii() and told.isdigit():
            return int(told) * milliseconds
    return None


def stopped_short(
    stop_reason: str | None, *, max_tokens: int
) -> tuple[FailureCategory, str] | None:
    """Why a message is no answer; `None` if it is one."""
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
