"""When a webhook that did not take what it was sent is tried again."""

from datetime import timedelta
from typing import Final

from switchyard.domain.tasks.task import milliseconds

AFTER_THE_FIRST: Final = tuple(
    milliseconds(after)
    for after in (
        timedelta(minutes=5),
        timedelta(minutes=30),
        timedelta(hours=4),
        timedelta(hours=24),
    )
)
"""Five tries with the first one."""


def pause_after(elapsed_ms: int) -> int | None:
    """Until the next try, so long after the first one; `None` if that was the last.

    Whoever is late skips a try: there are never more.
    """
    return next((at - elapsed_ms for at in AFTER_THE_FIRST if at > elapsed_ms), None)
