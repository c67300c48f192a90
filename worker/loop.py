"""The worker's loop: slots, then messages; each message is handled beside the others."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.observability import get_logger
from switchyard.ports import Received
from worker.brake import SECONDS_BETWEEN_LOOKS, Brake
from worker.deletions import Deletions
from worker.protection import Protection
from worker.slots import Slots
from worker.stopping import Stop
from worker.waiting import Pauses, first_of

logger = get_logger("worker")

LONGEST_IDLE_PAUSE_SECONDS: Final = 5.0
LINGER_SECONDS: Final = 0.1  # slots that become free together share a receive

Handle = Callable[[Received], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    max_messages: int
    wait_seconds: int
    visibility_seconds: int


class Loop:
    def __init__(
        self,
        ports: WorkerPorts,
        *,
        handle: Handle,
        stop: Stop,
        slots: Slots,
        protection: Protection,
        deletions: Deletions,
        polling: Polling,
    ) -> None:
        self._ports = ports
        self._handle = handle
        self._stop = stop
        self._slots = slots
        self._protection = protection
        self._deletions = deletions
        self._polling = polling
        self._brake = Brake(ports)
        self._leaving = asyncio.Event()
        self._outages = Pauses(ports.randomness)
        self._idling = Pauses(ports.randomness, longest_seconds=LONGEST_IDLE_PAUSE_SECONDS)

    @property
    def busy(self) -> int:
        """How many slots hold a task; one that waits for a message does not."""
        return self._protection.held

    async def run(self) -> None:
        """Until a stop was asked for and everything that ran has finished or was handed back."""
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self._protection.keep())
            beside.create_task(self._deletions.keep())
            grace = beside.create_task(self._stop.end_grace())
            async with asyncio.TaskGroup() as running:
                await self._poll(running, beside)
            grace.cancel()
            self._deletions.close()
            self._leaving.set()

    async def _poll(self, running: asyncio.TaskGroup, beside: asyncio.TaskGroup) -> None:
        while await self._is_free():
            taken = self._slots.take(at_most=self._polling.max_messages)
            receiving = asyncio.create_task(self._receive(taken))
            if not await self._is_answered(receiving):
                beside.create_task(self._put_back_late(receiving))
                return
            messages = receiving.result()
            await self._slots.give_back(taken - len(messages))
            for message in messages:
                running.create_task(self._in_slot(message))

    async def _is_free(self) -> bool:
        """Wait for a free slot or for the end; false at the end."""
        await self._unless_stopped(self._slots.one_is_free())
        await self._unless_stopped(self._company())
        return not self._stop.asked.is_set()

    async def _company(self) -> None:
        linger = self._ports.sleep(LINGER_SECONDS)
        await first_of({"all": self._slots.all_are_free(), "linger": linger})

    async def _is_answered(self, receiving: asyncio.Task[Sequence[Received]]) -> bool:
        """False when a stop comes first: it does not wait for a long poll."""
        await self._unless_stopped(asyncio.shield(receiving))
        return receiving.done()

    async def _put_back_late(self, receiving: asyncio.Task[Sequence[Received]]) -> None:
        """What comes while others finish. What comes later is hidden until its visibility ends."""
        await first_of({"answer": receiving, "leaving": self._leaving.wait()})
        if not receiving.cancelled():
            for message in receiving.result():
                await self._put_back(message)

    async def _in_slot(self, message: Received) -> None:
        try:
            if self._stop.asked.is_set():  # it arrived while we were being told to stop
                await self._put_back(message)
            else:
                await self._handle(message)
        finally:
            await self._slots.give_back()

    async def _receive(self, at_most: int) -> Sequence[Received]:
        """Nothing after an outage, and after a pause; nothing while consumption is paused."""
        if await self._brake.is_on():
            await self._unless_stopped(self._ports.sleep(SECONDS_BETWEEN_LOOKS))
            return ()
        try:
            messages = await self._ports.offload(
                self._ports.inbox.receive,
                at_most=at_most,
                wait_seconds=self._polling.wait_seconds,
                visibility_seconds=self._polling.visibility_seconds,
            )
        except Unavailable as outage:
            pause = self._outages.next_seconds()
            fields = {"error": str(outage), "pause_seconds": pause}
            logger.warning("queue is unavailable", extra=fields)
            await self._unless_stopped(self._ports.sleep(pause))
            return ()
        self._outages.reset()
        await self._rest_if_idle(messages)
        return messages

    async def _rest_if_idle(self, messages: Sequence[Received]) -> None:
        """A long poll rests by itself."""
        if messages:
            self._idling.reset()
        elif self._polling.wait_seconds == 0:
            await self._unless_stopped(self._ports.sleep(self._idling.next_seconds()))

    async def _put_back(self, message: Received) -> None:
        try:
            await self._ports.offload(self._ports.inbox.extend, message, seconds=0)
        except Unavailable as outage:
            logger.warning("message comes back late", extra={"error": str(outage)})

    async def _unless_stopped(self, wait: Awaitable[object]) -> None:
        await first_of({"wait": wait, "stop": self._stop.asked.wait()})
