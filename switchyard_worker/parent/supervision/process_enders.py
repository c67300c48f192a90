"""Starts two small programs that end processes: of a task's user, and after a killed worker.

`end_user.py` ends all processes of a user. Each child asks the system to be killed with the worker
(`switchyard_worker/child/limits.py`), but not what it started in turn: a session of Claude's
command line, its
shells and what they left in the background. `end_orphans.py` ends those when the worker is killed.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from switchyard.contracts.worker_log import USERS_PROCESSES_LEFT
from switchyard.observability import get_logger
from switchyard_worker.boundary import AGENT_USERS, WORKER_MARK, mark_of_worker
from switchyard_worker.parent.files.users import SlotUser, slot_users
from switchyard_worker.parent.supervision import end_orphans, end_user

logger = get_logger("worker")

MAX_SECONDS: Final = 10.0
MAX_ERROR_CHARACTERS: Final = 500


class UserEnder:
    """Asks `end_user.py`, started beforehand: under a fork bomb a start takes seconds.

    It has the capability to become another user, and not the one to kill any process.
    """

    def __init__(self, host: Mapping[str, str], *, max_seconds: float = MAX_SECONDS) -> None:
        self._host = host
        self._max_seconds = max_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._asking = asyncio.Lock()

    async def start(self) -> None:
        """Start the process, where tasks have users of their own. Raise `OSError`."""
        users = slot_users(self._host)
        if not users:
            return
        self._process = await asyncio.create_subprocess_exec(
            "setpriv",
            "--inh-caps=-all,+setuid",
            "--ambient-caps=-all,+setuid",
            "--",
            *(sys.executable, "-I", "-S", end_user.__file__, str(min(users) - 1)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PATH": self._host.get("PATH", os.defpath)},
            process_group=0,  # a signal for the worker's group is not meant for it
        )

    async def end(self, user: SlotUser) -> bool:
        """Kill the user's processes and remove their shared memory; return whether it succeeded."""
        async with self._asking:
            try:
                async with asyncio.timeout(self._max_seconds):
                    found = await self._asked(user)
            except (OSError, TimeoutError, ValueError) as error:
                problem = str(error) or f"no answer within {self._max_seconds:g} s"
                fields = {"user": user.id, "error": problem[-MAX_ERROR_CHARACTERS:]}
                logger.error(USERS_PROCESSES_LEFT, extra=fields)
                await self.close()
                return False
        if found:
            fields = {"user": user.id, "found": found}
            logger.warning(
                "processes or shared memory outlived a task and were ended", extra=fields
            )
        return True

    async def close(self) -> None:
        """End the process; the next user to be ended starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _asked(self, user: SlotUser) -> str:
        """Return what there was to end. Raise `OSError`, or `ValueError` with what went wrong."""
        if self._process is None or self._process.returncode is not None:
            await self.start()
        if self._process is None or not self._process.stdin or not self._process.stdout:
            raise ValueError("there are no users of tasks")
        self._process.stdin.write(f"{user.id}\n".encode())
        answer = (await self._process.stdout.readline()).decode(errors="replace").strip()
        done, _, found = answer.partition(" ")
        if done != end_user.DONE:
            raise ValueError(answer or "the process that ends others has ended")
        return found


NO_USERS: Final = "-"


class OrphanWatcher:
    """Starts `end_orphans.py`, and starts it again if it has been ended."""

    def __init__(self, host: Mapping[str, str]) -> None:
        self._host = host
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def ensure(self) -> None:
        """Start the program if it does not run; only on Linux. Raise `OSError`."""
        if sys.platform != "linux" or (self._process and self._process.poll() is None):
            return
        if self._process:
            logger.error("the process that ends orphans was ended", extra={"pid": self.pid})
            self.close()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", end_orphans.__file__),
                f"{WORKER_MARK}={mark_of_worker()}",
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
