"""Reports to the user what happens."""

from collections.abc import Callable
from contextlib import suppress

Say = Callable[[str], None]


def heard_or_not(say: Say) -> Say:
    """Return `say` for a terminal that may be gone: no reason to leave processes behind."""

    def say_on(line: str) -> None:
        with suppress(OSError, SystemExit):  # a rich console exits when its pipe is broken
            say(line)

    return say_on
