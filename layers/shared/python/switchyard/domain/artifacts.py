"""Names of what is in the bucket. Imports nothing: the child starts with it."""

from typing import Final

RESULT_FILE: Final = "artifacts/task-result.json"
"""The output, below the attempt's folder and below its prefix in the bucket."""


def input_key(tenant: str, request_id: str, digest: str) -> str:
    """Of something given to a task that is too large for its item.

    It names its content: whoever else writes for the same task at the same moment replaces nothing.
    """
    return f"task/inputs/{tenant}/{request_id}/{digest}.json"
