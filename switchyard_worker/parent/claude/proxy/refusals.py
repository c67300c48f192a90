"""Why a request is not forwarded, in the shape that the API's own errors have."""

import json
from typing import Final

INVALID: Final = "invalid_request_error"


class Refused(Exception):
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


class CapReached(Refused):
    """The attempt's `maxCostUsd` leaves no room for an answer: final, as a budget's end is."""

    def __init__(self, message: str) -> None:
        super().__init__(400, INVALID, "cost", message)


def invalid(reason: str, message: str) -> Refused:
    return Refused(400, INVALID, reason, message)


def unknown_token() -> Refused:
    message = "this token is unknown to the worker, or its attempt has ended"
    return Refused(401, "authentication_error", "token", message)


def forbidden(message: str) -> Refused:
    return Refused(403, "permission_error", "path", message)


def too_large(message: str) -> Refused:
    return Refused(413, "request_too_large", "size", message)


def too_many(message: str) -> Refused:
    return Refused(429, "rate_limit_error", "parallel", message)


def unreachable(message: str) -> Refused:
    return Refused(502, "api_error", "upstream", message)
