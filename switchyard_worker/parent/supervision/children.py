"""Starts and ends the child processes of this worker; none outlives its task."""

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import psutil

from switchyard.bootstrap import Offload
from switchyard.contracts.worker_log import PROCESSES_LEFT
from switchyard.observability import get_logger
from switchyard.ports import Clock, Sleep
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.coroutines import all_of, first_of
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.users import SlotUser
from switchyard_worker.parent.supervision.child_output import (
    ChildOutput,
    Excerpt,
    LastActivity,
    Printed,
)
from switchyard_worker.parent.supervision.descendants import (
    Hunt,
    Orphans,
    Running,
    kill,
    processes_below,
)
from switchyard_worker.parent.supervision.process_enders import OrphanWatcher

logger = get_logger("worker")

LAST_OUTPUT_SECONDS = 1.0  # for output still in the pipes once the child is gone


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
        """Wait for the exit code, which is negative when a signal ended the child."""
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
        await first_of({"end": everything, "late": self._sleep(LAST_OUTPUT_SECONDS)})

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: a zombie group
            os.killpg(self.pid, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToStart:
    """A child that is to be started, and where its output goes."""

    command: Sequence[str]
    folder: TaskFolder
    environment: Mapping[str, str]
    request_id: str
    redaction: Redaction
    printed: Printed
    activity: LastActivity
    excerpt: Excerpt | None = None
    """Where its output goes instead of files in its folder."""

    def outputs(self) -> list[ChildOutput]:
        """Open the files of its standard output and error. Raise `OSError`."""
        stdout = self._output("stdout.log")
        try:
            return [stdout, self._output("stderr.log")]
        except OSError:
            stdout.abandon()
            raise

    def _output(self, name: str) -> ChildOutput:
        return ChildOutput(
            self.excerpt or self.folder.create(f"logs/{name}"),
            request_id=self.request_id,
            redaction=self.redaction,
            printed=self.printed,
            activity=self.activity,
        )


EndUser = Callable[[SlotUser], Awaitable[bool]]
"""Ends all processes of a user; false if it could not."""

SWEEP_SECONDS: Final = 5.0
SECONDS_BETWEEN_SWEEPS: Final = 10.0
SHOWN: Final = 20
PAUSES: Final = (0.0, 0.0, 0.002, 0.005, 0.01, 0.02)
"""Seconds between two looks: what was stopped or killed is seldom gone at once."""


class Children:
    def __init__(
        self,
        *,
        clock: Clock,
        sleep: Sleep,
        offload: Offload,
        kill_seconds: float,
        end_user: EndUser | None = None,
        watcher: OrphanWatcher | None = None,
    ) -> None:
        self.given_up = 0
        """The number of sweeps that left processes behind."""
        self._clock = clock
        self._sleep = sleep
        self._offload = offload
        self._kill_seconds = kill_seconds
        self._end_user = end_user
        self._watcher = watcher
        self._living: dict[int, SlotUser | None] = {}
        self._unended: set[SlotUser] = set()
        self._not_ours = {process.pid for process in psutil.Process().children()}
        # A child between its fork and its entry in `_living` looks like an orphan.
        self._changing = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def running(self, wanted: ToStart) -> AsyncIterator[Child]:
        """Run a child; after the block nothing of it runs any more.

        Raise `OSError` when there is none.
        """
        child = await self._spawn(wanted, wanted.outputs())
        try:
            yield child
        finally:
            await self._end(child, wanted.folder.user)

    def kill_all(self) -> None:
        """Kill all children at once, without logging: for a worker that has to exit."""
        below = processes_below(self._living)
        for pid in self._living:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        kill(below)

    async def keep_swept(self) -> None:
        """Sweep until cancelled: end and reap what an earlier sweep left, and new orphans."""
        while True:
            await self._sleep(SECONDS_BETWEEN_SWEEPS)
            await self._sweep()

    async def _spawn(self, wanted: ToStart, outputs: Sequence[ChildOutput]) -> Child:
        stdout, stderr = outputs
        async with self._changing:
            try:
                if self._watcher:
                    await self._offload(self._watcher.ensure)
                process = await asyncio.create_subprocess_exec(
                    *wanted.command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=stdout.write_end,
                    stderr=stderr.write_end,
                    cwd=None if wanted.folder.user else wanted.folder.path,
                    env=wanted.environment,
                    start_new_session=True,
                )
            except BaseException:
                for output in outputs:
                    output.abandon()
                raise
            user = self._living[process.pid] = wanted.folder.user
        fields = {
            "request_id": wanted.request_id,
            "process_id": process.pid,
            "user": user.id if user else None,
        }
        logger.info("child started", extra=fields)
        return Child(process, outputs, sleep=self._sleep)

    async def _end(self, child: Child, user: SlotUser | None) -> None:
        below = await self._offload(processes_below, [child.pid]) if child.alive else []
        try:
            await child.stop(kill_after_seconds=self._kill_seconds)
        finally:
            await self._offload(kill, below)
            if user:
                await self._end_all_of(user)
            self._living.pop(child.pid, None)
            await self._sweep()
        await child.finish_output()

    async def is_ended(self, user: SlotUser) -> bool:
        """Return whether no process of a user is left after its child; end them if not."""
        if user in self._unended:
            await self._end_all_of(user)
        return user not in self._unended

    async def _end_all_of(self, user: SlotUser) -> None:
        self._unended.add(user)
        end = self._end_user
        if end is not None and await end(user):
            self._unended.discard(user)

    async def _sweep(self) -> None:
        """End orphans, and look again after each kill: one may have forked in between."""
        hunt, deadline = Hunt(), self._clock.monotonic() + SWEEP_SECONDS
        pauses = itertools.chain(PAUSES, itertools.repeat(PAUSES[-1]))
        while found := await self._step(hunt):
            if self._clock.monotonic() > deadline:
                self._give_up(found)
                return
            await self._sleep(next(pauses))

    async def _step(self, hunt: Hunt) -> Orphans:
        async with self._changing:
            return await self._offload(hunt.step, self._running())

    def _running(self) -> Running:
        watcher = self._watcher.pid if self._watcher else None
        others = self._not_ours | ({watcher} if watcher else set())
        users = frozenset(user.id for user in self._living.values() if user)
        return Running(frozenset({*self._living, *others}), users)

    def _give_up(self, left: Orphans) -> None:
        self.given_up += 1
        fields = {
            "processes": len(left.living),
            "zombies": len(left.zombies),
            "pids": [process.pid for process in left.living[:SHOWN]],
            "given_up": self.given_up,
        }
        logger.error(PROCESSES_LEFT, extra=fields)
