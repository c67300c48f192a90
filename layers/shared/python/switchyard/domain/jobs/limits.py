"""Limits the size of a job and the time of an attempt; a stage's own are in `domain/access`."""

from typing import Final

MAX_TASKS: Final = 10_000
MAX_WITH_ITEMS: Final = 20_000
"""The tasks of a job with all those that its fan-outs made."""
MAX_EDGES: Final = 100_000
"""The dependencies of all tasks of a job together."""
MAX_DOCUMENT_BYTES: Final = 5_000_000
"""API Gateway takes 10 MB, a function 6 MB: with the body as a text whose quotes are escaped."""
MAX_INLINE_TASKS: Final = 1_000
"""The most tasks that the API writes itself; the dispatcher writes larger jobs."""
MAX_TIMEOUT_MS: Final = 12 * 60 * 60 * 1000
MAX_NAME_CHARACTERS: Final = 200
MAX_TAGS: Final = 20
MAX_TAG_CHARACTERS: Final = 128
"""The longest key of a tag, and the longest value."""
MAX_NAMES: Final = 100
"""The most tasks that one item names; relays stand for more."""
MOST_DEPENDENTS: Final = 1_000
"""The most dependents of a task to which tasks were added: one item names them all."""


def size_problem(tasks: int, edges: int) -> str | None:
    """Say what is wrong with a job of so many tasks and dependencies; `None` if nothing is."""
    if not 1 <= tasks <= MAX_TASKS:
        return f"a job has 1 to {MAX_TASKS:,} tasks, this one {tasks:,}"
    if edges > MAX_EDGES:
        return f"a job has at most {MAX_EDGES:,} dependencies, this one {edges:,}"
    return None
