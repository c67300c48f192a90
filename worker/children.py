"""All child processes of this worker. None outlives its task."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from switchyard.ports import Sleep
from worker.activity import LastActivity
from worker.child import Child
from worker.child_output import ChildOutput, Printed
from worker.descendants import kill, orphans, processes_below, reap
from worker.redaction import Redaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ToStart:
    """A child that is to be started, and what becomes of what it prints."""

    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    request_id: str
    redaction: Redaction
    printed: Printed
    activity: LastActivity

    def outputs(self) -> list[ChildOutput]:
        """Its standard output and its standard error. Raise `OSError`."""
        stdout = self._output("stdout.log")
        try:
            return [stdout, self._output("stderr.log")]
        except OSError:
            stdout.abandon()
            raise

    def _output(self, name: str) -> ChildOutput:
        return ChildOutput(
            self.folder / "logs" / name,
            request_id=self.request_id,
            redaction=self.redaction,
            printed=self.printed,
            activity=self.activity,
        )


MOST_SWEEPS: Final = 10


class Children:
    def __init__(self, *, sleep: Sleep, kill_seconds: float) -> None:
        self._sleep = sleep
        self._kill_seconds = kill_seconds
        self._living: set[int] = set()
        self._not_ours = {process.pid for process in psutil.Process().children()}
        # A child between its fork and its entry in `_living` looks like an orphan.
        self._changing = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def running(self, wanted: ToStart) -> AsyncIterator[Child]:
        """A child, and afterwards the certainty that nothing of it runs any more.

        Raise `OSError` when there is none.
        """
        child = await self._spawn(wanted, wanted.outputs())
        try:
            yield child
        finally:
            await self._end(child)

    def kill_all(self) -> None:
        """At once, without a word: for a worker that has to leave."""
        for pid in self._living:
            below = processes_below(pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            kill(below)

    async def _spawn(self, wanted: ToStart, outputs: Sequence[ChildOutput]) -> Child:
        stdout, stderr = outputs
        async with self._changing:
            try:
                process = await asyncio.create_subprocess_exec(
                    *wanted.command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=stdout.write_end,
                    stderr=stderr.write_end,
                    cwd=wanted.folder,
                    env=wanted.environment,
                    start_new_session=True,
                )
            except BaseException:
                for output in outputs:
                    output.abandon()
                raise
            self._living.add(process.pid)
        return Child(process, outputs, sleep=self._sleep)

    async def _end(self, child: Child) -> None:
        below = processes_below(child.pid) if child.alive else []
        try:
            await child.stop(kill_after_seconds=self._kill_seconds)
        finally:
            await self._sweep(child, below)
        await child.finish_output()

    async def _sweep(self, child: Child, below: list[psutil.Process]) -> None:
        """Look again after each kill: something may have forked in between."""
        for _ in range(MOST_SWEEPS):
            async with self._changing:
                self._living.discard(child.pid)
                left = [*below, *orphans(except_for=self._living | self._not_ours)]
                kill(left)
            if not left:
                return
            await reap(left, sleep=self._sleep)
            below = []
