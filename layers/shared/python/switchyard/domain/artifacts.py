"""Names of what is in the bucket. Imports nothing: the child starts with it."""

from typing import Final

RESULT_FILE: Final = "artifacts/task-result.json"
"""The output, below the attempt's folder and below its prefix in the bucket."""


def input_key(request_id: str) -> str:
    """Of an input that is too large for its item."""
    return f"task/inputs/{request_id}.json"
