"""Names of what an attempt leaves behind. Imports nothing: the child starts with it."""

from typing import Final

RESULT_FILE: Final = "artifacts/task-result.json"
"""The output, below the attempt's folder and below its prefix in the bucket."""
