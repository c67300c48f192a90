"""Ends what runs for tasks when the worker itself has been killed and can end nothing any more.

Each child asks the system to be killed with the worker (`worker/task/parent_death.py`). What it
started in turn is not: a session of Claude's command line, its shells and what they left in the
background. A small process beside the worker ends those.
"""

import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from switchyard.observability import get_logger
from worker import end_orphans
from worker.slot_users import AGENT_USERS
from worker.task.parent_death import MARK, mark_of_worker

logger = get_logger("worker")

NO_USERS: Final = "-"


class OrphanWatcher:
    """Starts the process, and starts another if somebody has ended it."""

    def __init__(self, host: Mapping[str, str]) -> None:
        self._host = host
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def ensure(self) -> None:
        """Only Linux says which environment a process has. Raise `OSError`."""
        if sys.platform != "linux" or (self._process and self._process.poll() is None):
            return
        if self._process:
            logger.error("the process that ends orphans was ended", extra={"pid": self.pid})
            self.close()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", end_orphans.__file__),
                f"{MARK}={mark_of_worker()}",
                self._host.get(AGENT_USERS) or NO_USERS,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )

    def close(self) -> None:
        """Let it end: it finds nothing, since the worker has ended its children by itself."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
