"""Tells that an attempt is alive and what it does; at best, and never in the way of its lease."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts import events as contracts
from switchyard.domain.errors import Unavailable
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.usecases.events import task_events
from worker.activity import Activity, LastActivity
from worker.memory import resident_bytes

logger = get_logger("worker")

QUIET_MS: Final = 60_000  # without news, one event a minute


@dataclass(frozen=True, slots=True)
class Watched:
    process_id: int
    activity: LastActivity
    memory: Callable[[int], int] = resident_bytes


class Heartbeats:
    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports
        self._watched: Watched | None = None
        self._number = 0
        self._last: tuple[int, Activity | None] | None = None
        self._telling: asyncio.Task[None] | None = None

    def watch(self, child: Watched) -> None:
        """Before there is a child there is nothing to tell."""
        self._watched = child

    def beat(self, task: Task) -> None:
        """`task` was just renewed. One telling at a time: a slow bus costs beats, not threads."""
        self._number += 1
        if self._watched is None or self._is_telling():
            return
        now_ms, activity = self._ports.clock.now_ms(), self._watched.activity.current
        if self._is_news(now_ms, activity):
            self._telling = asyncio.create_task(self._tell(task, self._watched, now_ms, activity))

    async def stop(self) -> None:
        if self._telling:
            self._telling.cancel()
            await asyncio.wait({self._telling})

    def _is_telling(self) -> bool:
        if self._telling is None:
            return False
        if self._telling.done():
            self._telling.result()  # a bug ends the worker
            return False
        return True

    def _is_news(self, now_ms: int, activity: Activity | None) -> bool:
        if self._last is None:
            return True
        told_at_ms, told = self._last
        return _kind(activity) != _kind(told) or now_ms - told_at_ms >= QUIET_MS

    async def _tell(
        self, task: Task, child: Watched, now_ms: int, activity: Activity | None
    ) -> None:
        number = self._number
        try:
            fact = task_events.heartbeat(
                task,
                number=number,
                worker_id=self._ports.worker_id,
                process_id=child.process_id,
                resident_bytes=await self._ports.offload(child.memory, child.process_id),
                last_activity=_told(activity),
                at_ms=now_ms,
            )
            await self._ports.offload(self._ports.emitter.emit, fact)
        except Unavailable as outage:
            fields = {"request_id": task.ref.request_id, "error": str(outage)}
            logger.warning("heartbeat is not told", extra=fields)
        else:
            self._last = (now_ms, activity)


def _told(activity: Activity | None) -> contracts.LastActivity | None:
    if activity is None:
        return None
    return contracts.LastActivity(
        type=activity.type, step_name=activity.step_name, timestamp=activity.at_ms
    )


def _kind(activity: Activity | None) -> tuple[str, str] | None:
    return (activity.type, activity.step_name) if activity else None
