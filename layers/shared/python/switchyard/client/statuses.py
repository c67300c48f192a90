"""The API's names for the ends of jobs and tasks."""

from typing import Final

COMPLETED: Final = "completed"
FAILED: Final = "failed"
FINAL: Final = frozenset({COMPLETED, FAILED, "cancelled", "skipped"})
