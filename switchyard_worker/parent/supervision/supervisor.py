"""Runs a task's child and watches what may end it early."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from switchyard.bootstrap import Offload
from switchyard.ports import Clock, Sleep
from switchyard_worker.boundary import MAX_PROCESSES, TASK_FILE, Assignment
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.coroutines import first_of
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.users import as_user
from switchyard_worker.parent.supervision.child_environment import ChildAccess, child_environment
from switchyard_worker.parent.supervision.child_output import LastActivity, Printed
from switchyard_worker.parent.supervision.children import Child, Children, ToStart
from switchyard_worker.parent.supervision.quota import Quota

TIMEOUT_KILL_SECONDS: Final = 5.0


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
        printed, signal, started = Printed(), None, AsyncExitStack()
        began = self.clock.monotonic()
        child = await started.enter_async_context(
            self._child(assignment, folder, access, redaction, printed, activity)
        )
        async with asyncio.TaskGroup() as beside, started:
            beside.create_task(on_start(child.pid))
            counting = asyncio.ensure_future(self.quota.exceeded(folder))
            ended = await first_of(
                {
                    Ended.BY_ITSELF: child.exited(),
                    Ended.TIMED_OUT: self.sleep(assignment.timeout_ms / 1000),
                    Ended.PRINTED_TOO_MUCH: printed.too_much.wait(),
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

    def _child(
        self,
        assignment: Assignment,
        folder: TaskFolder,
        access: ChildAccess | None,
        redaction: Redaction,
        printed: Printed,
        activity: LastActivity,
    ) -> AbstractAsyncContextManager[Child]:
        return self.children.running(
            ToStart(
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
                printed=printed,
                activity=activity,
            )
        )
