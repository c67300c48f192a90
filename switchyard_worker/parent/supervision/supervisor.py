"""Runs a task's child and watches what may end it early."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

from switchyard.bootstrap import Offload
from switchyard.ports import Clock, Sleep
from switchyard_worker.boundary import MAX_PROCESSES, TASK_FILE, Assignment
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.coroutines import first_of
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.users import as_user
from switchyard_worker.parent.supervision.child_environment import ChildAccess, child_environment
from switchyard_worker.parent.supervision.child_output import Excerpt, LastActivity, Printed
from switchyard_worker.parent.supervision.children import Children, ToStart
from switchyard_worker.parent.supervision.quota import Quota

R = TypeVar("R")

TIMEOUT_KILL_SECONDS: Final = 5.0
MAX_COMMAND_BYTES: Final = 5_000_000
"""What the program of a commitment may print; a few thousand characters are evidence."""


class Ended(StrEnum):
    BY_ITSELF = "by itself"
    TIMED_OUT = "timed out"
    PRINTED_TOO_MUCH = "printed too much"
    USED_TOO_MUCH = "used too much"
    CANCELLED = "cancelled"
    HANDED_BACK = "handed back"
    CLAUDE_LOST = "claude lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The end of a child's run."""

    ended: Ended
    exit_code: int
    duration_ms: int
    signal: str | None = None
    problem: str | None = None
    """The limit that the child exceeded, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    children: Children
    clock: Clock
    sleep: Sleep
    offload: Offload
    host_environment: Mapping[str, str]
    quota: Quota

    async def run(
        self,
        assignment: Assignment,
        folder: TaskFolder,
        *,
        access: ChildAccess | None,
        redaction: Redaction,
        activity: LastActivity,
        interruptions: Mapping[Ended, asyncio.Event],
        on_start: Callable[[int], Coroutine[None, None, None]],
    ) -> Run:
        """Run a child; `on_start` gets its id and runs beside it. Raise `OSError` without one."""
        await self.offload(self._write_task, assignment, folder)
        return await self._watched(
            self._to_start(assignment, folder, access, redaction, activity),
            timeout_ms=assignment.timeout_ms,
            interruptions=interruptions,
            on_start=on_start,
        )

    async def run_command(
        self,
        command: Sequence[str],
        assignment: Assignment,
        folder: TaskFolder,
        *,
        timeout_ms: int,
        redaction: Redaction,
        excerpt: Excerpt,
    ) -> Run:
        """Run a program in an attempt's folder, within the same limits and without access to
        Claude, once the attempt's child has ended. Raise `OSError` without one."""
        most_processes = MAX_PROCESSES if folder.user else 0
        limits = (assignment.memory_mb or 0, assignment.file_mb, most_processes)
        program = [sys.executable, "-P", "-m", "switchyard_worker.child.command"]
        wanted = ToStart(
            command=as_user(
                [*program, *map(str, limits), "--", *command], folder.user, folder=folder.path
            ),
            folder=folder,
            environment=child_environment(self.host_environment, folder.path, access=None),
            request_id=assignment.request_id,
            redaction=redaction,
            printed=Printed(MAX_COMMAND_BYTES),
            activity=LastActivity(self.clock),
            excerpt=excerpt,
        )
        return await self._watched(
            wanted, timeout_ms=timeout_ms, interruptions={}, on_start=_nothing_beside
        )

    async def _watched(
        self,
        wanted: ToStart,
        *,
        timeout_ms: int,
        interruptions: Mapping[Ended, asyncio.Event],
        on_start: Callable[[int], Coroutine[None, None, None]],
    ) -> Run:
        """Run a child until it ends or something ends it; then nothing of it runs any more."""
        signal, started = None, AsyncExitStack()
        began = self.clock.monotonic()
        child = await started.enter_async_context(self.children.running(wanted))
        async with asyncio.TaskGroup() as beside, started:
            beside.create_task(on_start(child.pid))
            counting = asyncio.ensure_future(self.quota.exceeded(wanted.folder))
            ended = await first_of(
                {
                    Ended.BY_ITSELF: child.exited(),
                    Ended.TIMED_OUT: self.sleep(timeout_ms / 1000),
                    Ended.PRINTED_TOO_MUCH: wanted.printed.too_much.wait(),
                    Ended.USED_TOO_MUCH: counting,
                    **{end: event.wait() for end, event in interruptions.items()},
                }
            )
            if ended is Ended.TIMED_OUT:
                signal = await child.stop(kill_after_seconds=TIMEOUT_KILL_SECONDS)
        return Run(
            ended=ended,
            exit_code=await child.exited(),
            duration_ms=round((self.clock.monotonic() - began) * 1000),
            signal=signal.name if signal else None,
            problem=counting.result() if ended is Ended.USED_TOO_MUCH else None,
        )

    def _write_task(self, assignment: Assignment, folder: TaskFolder) -> None:
        if folder.user:
            assignment = replace(assignment, max_processes=MAX_PROCESSES)
        with folder.create(TASK_FILE) as file:
            assignment.write(file)

    def _to_start(
        self,
        assignment: Assignment,
        folder: TaskFolder,
        access: ChildAccess | None,
        redaction: Redaction,
        activity: LastActivity,
    ) -> ToStart:
        return ToStart(
            # -P: the folder belongs to the agent, so nothing is imported from it.
            command=as_user(
                [sys.executable, "-P", "-m", "switchyard_worker.child", str(folder.path)],
                folder.user,
                folder=folder.path,
            ),
            folder=folder,
            environment=child_environment(
                self.host_environment,
                folder.path,
                access=access,
                traceparent=assignment.traceparent,
            ),
            request_id=assignment.request_id,
            redaction=redaction,
            printed=Printed(),
            activity=activity,
        )


async def unless_ended(
    work: Awaitable[R], *, sleep: Sleep, seconds: float, ends: Mapping[Ended, asyncio.Event]
) -> R | Ended:
    """Return the result of the work, or what ended it; a call in a thread goes on."""
    working = asyncio.ensure_future(work)
    ended = await first_of(
        {
            Ended.BY_ITSELF: working,
            Ended.TIMED_OUT: sleep(seconds),
            **{end: event.wait() for end, event in ends.items()},
        }
    )
    return working.result() if ended is Ended.BY_ITSELF else ended


async def _nothing_beside(_process_id: int) -> None:
    """Return at once: nobody follows the program of a commitment."""
