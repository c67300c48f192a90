"""The part of a worker that turns wake-ups into claims, on ports in memory and a manual clock."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.ready import ready_key
from switchyard.domain.tasks.task import Task
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.scheduling import MemoryReadyIndex
from switchyard_worker.parent.choosing import tokens_of
from switchyard_worker.parent.receive.intake import ConsumptionPause
from switchyard_worker.parent.receive.tenant_clocks import ClocksOfGroups
from switchyard_worker.parent.receive.tokens import Taken, Token
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import JOB_ID, NOW_MS, a_task
from tests.worker.harness import WorkerHarness

P = ParamSpec("P")
R = TypeVar("R")

LEASE_MS = 45_000


async def at_once(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    return call(*args, **kwargs)


class LaggingIndex(MemoryReadyIndex):
    """Goes on to show keys that were removed."""

    def leave(self, task: Task) -> bool:
        return task.ready_in is None


class TokenHarness:
    def __init__(self, harness: WorkerHarness, *, slots: int = 1, lagging: bool = False) -> None:
        self.clock = ManualClock(NOW_MS)
        self.memory = memory = MemoryHarness(self.clock)
        if lagging:
            memory.ready = LaggingIndex(memory.state)
        self.ports = replace(
            harness.ports(),
            clock=self.clock,
            offload=at_once,
            leases=memory.leases,
            ready=memory.ready,
            clocks=memory.clocks,
            limits=memory.limits,
            payloads=memory.payloads,
            queue=memory.queue,
        )
        settings = harness.settings.model_copy(update={"pool_slots": slots})
        runtime = runtime_of(self.ports)
        self.clocks = ClocksOfGroups(runtime, memory.clocks, usd_per_slot_hour=0.0)
        self.pauses = ConsumptionPause(runtime, memory.pause_switch)
        self.tokens = tokens_of(self.ports, settings, self.clocks, self.pauses, lease_ms=LEASE_MS)

    def add(
        self, task_id: str, *, tenant: str = "acme", indexed: bool = True, **facts: Any
    ) -> Task:
        """Store a task with its key in the index and the mark of its tenant.

        Without `indexed` it is as an older version wrote it.
        """
        task = replace(a_task(task_id, **facts), ref=TaskRef(tenant, JOB_ID, task_id))
        if indexed:
            key: dict[str, Any] = dict(ready_key(task, task.ready_at_ms or NOW_MS))
            task = replace(task, **key)
            self.memory.clocks.mark("default", tenant, now_ms=NOW_MS)
        self.memory.state.tasks[task.ref] = task
        return task

    def pause(self, part: str) -> None:
        self.memory.pause_switch.pause_part(part)
        asyncio.run(self.pauses.pause())

    def token(self, task: Task) -> Token:
        return Token(TaskMessage.to(task.ref, run=1))

    def take(self, token: Token) -> Taken | None:
        return asyncio.run(self.tokens.take(token))

    def taken(self, token: Token) -> str | None:
        """Return the id of the task that is taken under the token."""
        taken = self.take(token)
        return taken.claimed.task.ref.task_id if taken else None

    def look(self, token: Token) -> bool:
        return asyncio.run(self.tokens.look(token))

    def task(self, task: Task) -> Task:
        return self.memory.state.tasks[task.ref]

    def change(self, task: Task, **facts: Any) -> None:
        self.memory.state.tasks[task.ref] = replace(self.task(task), **facts)

    def sent(self, *, after: float = 0) -> list[str]:
        """Return the ids of the tasks that messages name."""
        self.clock.advance(after)
        received = self.memory.queue.receive(at_most=99, wait_seconds=0, visibility_seconds=9)
        return [TaskMessage.model_validate_json(one.body).task_id for one in received]
