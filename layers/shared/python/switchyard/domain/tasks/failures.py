"""Categories of an attempt's failures, recognised by types and status codes.

Text is never looked at: a duration of 500 ms in a message is not a server error.
"""

import errno
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class FailureCategory(StrEnum):
    AUTH = "auth"
    VALIDATION = "validation"
    PARSE = "parse"
    NOT_FOUND = "not-found"
    PROGRAMMING = "programming"
    TIMEOUT = "timeout"
    NETWORK = "network"
    RATE_LIMIT = "rate-limit"
    SERVER_ERROR = "server-error"
    CHILD_DIED = "child-died"
    CODE_FAILED = "code-failed"
    """A task's own function raised an exception, its program ended with an exit code, or what the
    task has to leave behind is missing."""
    COMMITMENTS_FAILED = "commitments-failed"
    """The agent or the code claimed success, and a commitment of the task is not met."""

    @property
    def transient(self) -> bool:
        return self in _TRANSIENT


_TRANSIENT: Final = frozenset(
    {
        FailureCategory.TIMEOUT,
        FailureCategory.NETWORK,
        FailureCategory.RATE_LIMIT,
        FailureCategory.SERVER_ERROR,
        FailureCategory.CHILD_DIED,
        FailureCategory.CODE_FAILED,
        FailureCategory.COMMITMENTS_FAILED,
    }
)

_BY_STATUS: Final = {
    401: FailureCategory.AUTH,
    403: FailureCategory.AUTH,
    404: FailureCategory.NOT_FOUND,
    408: FailureCategory.TIMEOUT,
    429: FailureCategory.RATE_LIMIT,
}


def category_of_status(status: int) -> FailureCategory:
    """The category of an HTTP answer that is an error."""
    if status >= 500:
        return FailureCategory.SERVER_ERROR
    return _BY_STATUS.get(status, FailureCategory.VALIDATION)


# The first match counts, so a subclass stands before its base.
_BY_TYPE: Final[tuple[tuple[type[Exception], FailureCategory], ...]] = (
    (json.JSONDecodeError, FailureCategory.PARSE),
    (UnicodeError, FailureCategory.PARSE),
    (FileNotFoundError, FailureCategory.NOT_FOUND),
    (ImportError, FailureCategory.NOT_FOUND),
    (TimeoutError, FailureCategory.TIMEOUT),
    (ConnectionError, FailureCategory.NETWORK),
    (MemoryError, FailureCategory.CHILD_DIED),
    (ValueError, FailureCategory.VALIDATION),
)

_BY_ERRNO: Final[Mapping[int, FailureCategory]] = {
    errno.EFBIG: FailureCategory.VALIDATION,  # the limit on the size of files
    errno.ENETUNREACH: FailureCategory.NETWORK,
    errno.EHOSTUNREACH: FailureCategory.NETWORK,
    # Another worker may have the room, the rights or the memory that this one lacks.
    errno.ENOSPC: FailureCategory.SERVER_ERROR,
    errno.EDQUOT: FailureCategory.SERVER_ERROR,
    errno.EACCES: FailureCategory.SERVER_ERROR,
    errno.EPERM: FailureCategory.SERVER_ERROR,
    errno.EROFS: FailureCategory.SERVER_ERROR,
    errno.EMFILE: FailureCategory.SERVER_ERROR,
    errno.ENFILE: FailureCategory.SERVER_ERROR,
    errno.EAGAIN: FailureCategory.SERVER_ERROR,
    errno.ENOMEM: FailureCategory.CHILD_DIED,
}


def category_of(error: Exception) -> FailureCategory:
    """Return the category of an exception; an unforeseen one is our bug."""
    for kind, category in _BY_TYPE:
        if isinstance(error, kind):
            return category
    if isinstance(error, OSError) and error.errno is not None:
        return _BY_ERRNO.get(error.errno, FailureCategory.PROGRAMMING)
    return FailureCategory.PROGRAMMING
