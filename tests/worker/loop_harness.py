"""A loop on a queue in memory, whose messages are handled as a test says."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from switchyard.contracts.messages import TaskMessage
from switchyard.ports import Received
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.receive.deletions import Deletions
from switchyard_worker.parent.receive.intake import Screening
from switchyard_worker.parent.receive.lease import LeaseTiming
from switchyard_worker.parent.receive.loop import Loop, Polling
from switchyard_worker.parent.receive.rollout import Protection
from switchyard_worker.parent.receiving import intake_of, runtime_of
from tests.builders import JOB
from tests.worker.harness import LongPoll, WorkerHarness

PATIENCE_SECONDS = 10


class RecordedInbox(LongPoll):
    def __init__(self, harness: WorkerHarness) -> None:
        super().__init__(harness.memory)
        self.asked: list[int] = []
        self.deleted: list[int] = []
        """How many at a time."""
        self.let_go: list[str] = []

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]:
        self.asked.append(at_most)
        return super().receive(
            at_most=at_most, wait_seconds=wait_seconds, visibility_seconds=visibility_seconds
        )

    def extend(self, message: Received, *, seconds: int) -> None:
        if seconds == 0:
            self.let_go.append(message.message_id)
        super().extend(message, seconds=seconds)

    def delete(self, *messages: Received) -> None:
        self.deleted.append(len(messages))
        super().delete(*messages)


class HangingInbox(RecordedInbox):
    """A long poll that is answered when a test says so."""

    def __init__(self, harness: WorkerHarness) -> None:
        super().__init__(harness)
        self.hanging = threading.Event()
        self.answer = threading.Event()

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]:
        if len(self.asked) >= 1:
            self.hanging.set()
            self.answer.wait(PATIENCE_SECONDS)
        return super().receive(
            at_most=at_most, wait_seconds=wait_seconds, visibility_seconds=visibility_seconds
        )


class LoopHarness:
    """A loop whose messages are handled as a test says."""

    def __init__(self, harness: WorkerHarness, inbox: RecordedInbox) -> None:
        self.inbox = inbox
        self.pauses: list[float] = []
        self.finish = asyncio.Event()
        self.handling: list[str] = []
        self.bug: Exception | None = None
        self._memory = harness.memory
        self._ports = replace(harness.ports(), inbox=inbox, sleep=self._sleep, randomness=Longest())
        self.stop = Stop(grace_seconds=60, sleep=self._ports.sleep)
        self._timing = LeaseTiming.of(harness.settings)
        runtime = runtime_of(self._ports)
        self.deletions = Deletions(runtime, inbox, self._timing)
        self.machine = Machine(
            probe=lambda: None,
            clock=self._ports.clock,
            sleep=self._ports.sleep,
            offload=self._ports.offload,
        )
        self.screening = Screening(
            runtime, self._ports.leases, self.deletions, tenant_id=self._ports.tenant_id
        )

    def send(self, count: int) -> None:
        messages = [TaskMessage.to(JOB.task(f"t{n}"), run=1) for n in range(count)]
        self._memory.queue.send(messages)

    @property
    def waiting(self) -> int:
        return self._memory.queue.waiting

    def loop(self, *, slots: int = 3, max_messages: int = 10, wait_seconds: int = 20) -> Loop:
        runtime = runtime_of(self._ports)
        self.protection = Protection(runtime, self._ports.protection, self._timing, stop=self.stop)
        return Loop(
            runtime,
            self.inbox,
            handle=self._handle,
            stop=self.stop,
            intake=intake_of(self._ports, self.protection, self.machine, self.stop),
            screening=self.screening,
            polling=Polling(
                slots=slots,
                max_messages=max_messages,
                wait_seconds=wait_seconds,
                visibility_seconds=60,
            ),
            bugs=Bugs(self._ports.clock, self.stop),
        )

    async def _handle(self, message: Received) -> None:
        self.handling.append(message.message_id)
        await self.finish.wait()
        if self.bug:
            raise self.bug
        self.deletions.add(message)

    @property
    def rests(self) -> list[float]:
        """Between two polls; neither the grace nor the wait for company."""
        return [pause for pause in self.pauses if 0.5 <= pause < 60]

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(min(seconds, 0.02) if seconds < 60 else seconds)


class Longest:
    def between(self, low: float, high: float) -> float:
        return high


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - conditions vary
            await asyncio.sleep(0.005)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)
