"""Refusals of requests that are not forwarded, in the shape of the API's own errors."""

import json
from typing import Final

INVALID: Final = "invalid_request_error"


class RequestRefused(Exception):
    """A request is refused; `reason` is a constant for logs, the message is for the client.

    No client tries a 4xx again that has `x-should-retry: false`
    (https://platform.claude.com/docs/en/api/errors lists types and status codes).
    """

    def __init__(self, status: int, kind: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.reason = reason

    def body(self) -> bytes:
        error = {"type": self.kind, "message": str(self)}
        return json.dumps({"type": "error", "error": error}).encode()


class CapReached(RequestRefused):
    """The attempt's `maxCostUsd` leaves no room for an answer: final, as a budget's end is."""

    def __init__(self, message: str) -> None:
        super().__init__(400, INVALID, "cost", message)


def invalid(reason: str, message: str) -> RequestRefused:
    return RequestRefused(400, INVALID, reason, message)


def unknown_token() -> RequestRefused:
    message = "this token is unknown to the worker, or its attempt has ended"
    return RequestRefused(401, "authentication_error", "token", message)


def forbidden(message: str) -> RequestRefused:
    return RequestRefused(403, "permission_error", "path", message)


def too_large(message: str) -> RequestRefused:
    return RequestRefused(413, "request_too_large", "size", message)


def too_many(message: str) -> RequestRefused:
    return RequestRefused(429, "rate_limit_error", "parallel", message)


def unreachable(message: str) -> RequestRefused:
    return RequestRefused(502, "api_error", "upstream", message)
