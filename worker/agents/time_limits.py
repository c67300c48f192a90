"""How long an agent waits, so that it ends by itself before its step is ended for it.

Only so can it tell what it cost and what it did.
"""

from typing import Final

SHARE: Final = 0.9
TIME_TO_END_MS: Final = 3_000


def request_limit_ms(timeout_ms: int) -> int:
    """For one request to the API."""
    return int(timeout_ms * SHARE)


def session_limit_ms(timeout_ms: int) -> int:
    """For all of it."""
    return max(request_limit_ms(timeout_ms), timeout_ms - TIME_TO_END_MS)
