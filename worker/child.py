"""One child process: the leader of a session of its own, stopped as a group."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

from switchyard.ports import Sleep
from worker.child_output import ChildOutput
from worker.waiting import all_of, first_of

LAST_WORDS_SECONDS = 1.0  # for output still in the pipes once the child is gone


class Child:
    def __init__(
        self, process: asyncio.subprocess.Process, outputs: Sequence[ChildOutput], *, sleep: Sleep
    ) -> None:
        self._process = process
        self._sleep = sleep
        self._following = [asyncio.create_task(output.follow()) for output in outputs]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def exited(self) -> int:
        """Its exit code; negative when a signal ended it."""
        return await self._process.wait()

    async def stop(self, *, kill_after_seconds: float) -> signal.Signals:
        """End the whole group; return the signal that its leader needed."""
        try:
            self._signal(signal.SIGTERM)
            return await first_of(
                {signal.SIGTERM: self.exited(), signal.SIGKILL: self._sleep(kill_after_seconds)}
            )
        finally:
            self._signal(signal.SIGKILL)  # also for members that outlived the leader
            await self._process.wait()

    async def finish_output(self) -> None:
        """Let the last lines through; a process that holds a pipe open cannot hold us."""
        everything = all_of(self._following)
        await first_of({"end": everything, "late": self._sleep(LAST_WORDS_SECONDS)})

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: a zombie group
            os.killpg(self.pid, number)
