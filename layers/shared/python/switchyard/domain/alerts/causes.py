"""Reasons that differ only in names and numbers have one cause."""

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
    return _PARTICULARS.sub("…", reason)


def code_of(queue: str, cause: str) -> str:
    """A short name for a cause in a queue: the same one whenever it is asked for."""
    return hashlib.sha256(f"{queue}\n{cause}".encode()).hexdigest()[:CODE_LENGTH]
