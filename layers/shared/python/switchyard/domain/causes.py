"""The cause of a failure: its reason without names and numbers."""

import hashlib
import re
from typing import Final

CODE_LENGTH: Final = 6

_PARTICULARS: Final = re.compile(
    r"""
    '[^']*' | "[^"]*"                                 # what was quoted
    | \bjob-[0-9a-f-]{36}(__\S+)?                     # a job, a task
    | \b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b
    | \b[0-9a-fA-F]{16,}\b
    | \d+
    """,
    re.VERBOSE,
)


def cause_of(reason: str) -> str:
    """Return the same text for reasons that differ only in quoted text, ids and numbers."""
    return _PARTICULARS.sub("…", reason)


def code_of(queue: str, cause: str) -> str:
    """Return a short, stable name for a cause of dead letters of a queue."""
    return hashlib.sha256(f"{queue}\n{cause}".encode()).hexdigest()[:CODE_LENGTH]
