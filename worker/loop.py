"""The worker's loop: slots, then messages; each message is handled beside the others."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.observability import get_logger
from switchyard.ports import Received
from worker.protection import Protection
from worker.slots import Slots
from worker.stopping import Stop
from worker.waiting import Pauses, first_of

logger = get_logger("worker")

MESSAGES_PER_RECEIVE: Final = 10  # SQS's limit

Handle = Callable[[Received], Awaitable[None]]


class Loop:
    def __init__(
        self,
        ports: WorkerPorts,
        *,
        handle: Handle,
        stop: Stop,
        slots: Slots,
        protection: Protection,
        wait_seconds: int,
        visibility_seconds: int,
    ) -> None:
        self._ports = ports
        self._handle = handle
        self._stop = stop
        self._slots = slots
        self._protection = protection
        self._wait_seconds = wait_seconds
        self._visibility_seconds = visibility_seconds
        self._pauses = Pauses(ports.randomness)

    async def run(self) -> None:
        """Until a stop was asked for and everything that ran has finished or was handed back."""
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self._protection.keep())
            grace = beside.create_task(self._stop.end_grace())
            async with asyncio.TaskGroup() as running:
                await self._poll(running)
            grace.cancel()

    async def _poll(self, running: asyncio.TaskGroup) -> None:
        while await self._is_free():
            taken = self._slots.take(at_most=MESSAGES_PER_RECEIVE)
            messages = await self._receive(taken)
            await self._slots.give_back(taken - len(messages))
            for message in messages:
                running.create_task(self._in_slot(message))

    async def _is_free(self) -> bool:
        """Wait for a free slot or for the end; false at the end."""
        await first_of({"stop": self._stop.asked.wait(), "slot": self._slots.one_is_free()})
        return not self._stop.asked.is_set()

    async def _in_slot(self, message: Received) -> None:
        try:
            if self._stop.asked.is_set():  # it arrived while we were being told to stop
                await self._put_back(message)
            else:
                await self._handle(message)
        finally:
            await self._slots.give_back()

    async def _receive(self, at_most: int) -> Sequence[Received]:
        try:
            messages = await self._ports.offload(
                self._ports.inbox.receive,
                at_most=at_most,
                wait_seconds=self._wait_seconds,
                visibility_seconds=self._visibility_seconds,
            )
        except Unavailable as outage:
            await self._sit_out(outage)
            return ()
        self._pauses.reset()
        return messages

    async def _sit_out(self, outage: Unavailable) -> None:
        pause = self._pauses.next_seconds()
        logger.warning("queue is unavailable", extra={"error": str(outage), "pause_seconds": pause})
        await first_of({"stop": self._stop.asked.wait(), "pause": self._ports.sleep(pause)})

    async def _put_back(self, message: Received) -> None:
        try:
            await self._ports.offload(self._ports.inbox.extend, message, seconds=0)
        except Unavailable as outage:
            logger.warning("message comes back late", extra={"error": str(outage)})
