"""Users for the tasks of workers that tests start as root: no two workers share one.

Not even one after the other: the watcher of a worker that has ended kills what its users run.
"""

import itertools
import os
from typing import Final

_EACH: Final = 200
"""So many users belong to each process of the tests: ids below a billion, whatever its number."""
_first: Final = 100_000 + _EACH * os.getpid()
_taken: Final = itertools.count()
AT_MOST: Final = 20


def task_users(count: int) -> range:
    """Return users that no worker of a test has had, or none for a long time."""
    if count > AT_MOST:
        raise ValueError(f"at most {AT_MOST} users for one worker, not {count}")
    first = _first + AT_MOST * (next(_taken) % (_EACH // AT_MOST))
    return range(first, first + count)


def agent_users(users: range) -> dict[str, str]:
    """Return the setting that names them to a worker."""
    return {"AGENT_USERS": f"{users[0]}-{users[-1]}"}
