"""Receives messages for free slots, and handles each beside the others."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Final, Self

from switchyard.domain.errors import Unavailable
from switchyard.observability import get_logger
from switchyard.ports import Received, TaskInbox
from switchyard_worker.parent.coroutines import GrowingPauses, Runtime, first_of
from switchyard_worker.parent.health.machine import machine_trouble
from switchyard_worker.parent.health.stop import Bugs, Stop
from switchyard_worker.parent.receive.intake import Intake, Screening

logger = get_logger("worker")

LONGEST_IDLE_PAUSE_SECONDS: Final = 5.0
HOLD_SECONDS: Final = 10.0
"""How long the loop waits before it asks again whether it may receive."""
LINGER_SECONDS: Final = 0.1  # slots that become free together share a receive

Handle = Callable[[Received], Awaitable[None]]

Companion = Callable[[], Coroutine[None, None, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    slots: int
    max_messages: int
    wait_seconds: int
    visibility_seconds: int


class Slots:
    def __init__(self, count: int) -> None:
        self._count = count
        self._free = count
        self._changed = asyncio.Condition()

    async def one_is_free(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._free > 0)

    async def all_are_free(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._free == self._count)

    def take(self, *, at_most: int) -> int:
        """Take as many as are free, up to the limit."""
        taken = min(self._free, at_most)
        self._free -= taken
        return taken

    async def give_back(self, count: int = 1) -> None:
        async with self._changed:
            self._free += count
            self._changed.notify_all()


class Loop:
    def __init__(
        self,
        runtime: Runtime,
        inbox: TaskInbox,
        *,
        handle: Handle,
        stop: Stop,
        intake: Intake,
        screening: Screening,
        polling: Polling,
        bugs: Bugs | None = None,
    ) -> None:
        self._runtime = runtime
        self._inbox = inbox
        self._handle = handle
        self._stop = stop
        self._slots = Slots(polling.slots)
        self.intake = intake
        self._deletions = screening.deletions
        self._screening = screening
        self._polling = polling
        self._bugs = bugs or Bugs(runtime.clock, stop)
        self._companions: Sequence[Companion] = ()
        self._leaving = asyncio.Event()
        self._outages = GrowingPauses(runtime.randomness)
        self._idling = GrowingPauses(runtime.randomness, longest_seconds=LONGEST_IDLE_PAUSE_SECONDS)

    def beside(self, *companions: Companion) -> Self:
        """Run more companions beside the slots, and cancel them when all slots are empty."""
        self._companions = (*self._companions, *companions)
        return self

    async def begin(self) -> None:
        """Read whether consumption is paused; AWS's first answer also has the time.

        Probe the machine as well: a sick one takes no first task either.
        """
        await self.intake.pause_switch.pause()
        await self.intake.machine.look()

    async def run(self) -> None:
        """Run until a stop is asked for and all attempts have finished or were handed back.

        Raise `Unhealthy` if it stopped by itself.
        """
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self.intake.protection.keep())
            beside.create_task(self._deletions.keep())
            beside.create_task(self.intake.replacement.watch())
            grace = beside.create_task(self._stop.end_grace())
            companions = [beside.create_task(companion()) for companion in self._companions]
            async with asyncio.TaskGroup() as running:
                await self._poll(running, beside)
            for companion in (grace, *companions):
                companion.cancel()
            self._deletions.close()
            self._leaving.set()
        self._bugs.check()

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
        await self._unless_stopped(self._linger())
        return not self._stop.asked.is_set()

    async def _linger(self) -> None:
        linger = self._runtime.sleep(LINGER_SECONDS)
        await first_of({"all": self._slots.all_are_free(), "linger": linger})

    async def _is_answered(self, receiving: asyncio.Task[Sequence[Received]]) -> bool:
        """Return false when a stop comes first: it does not wait for a long poll."""
        await self._unless_stopped(asyncio.shield(receiving))
        return receiving.done()

    async def _put_back_late(self, receiving: asyncio.Task[Sequence[Received]]) -> None:
        """Put messages back that arrive while others finish; later ones stay hidden for a while."""
        await first_of({"answer": receiving, "leaving": self._leaving.wait()})
        if not receiving.cancelled():
            for message in receiving.result():
                await self._put_back(message)

    async def _in_slot(self, message: Received) -> None:
        try:
            # It arrived during a long poll that began before the stop or the replacement was known.
            if self._stop.asked.is_set() or self.intake.replacement.replaced:
                await self._put_back(message)
            else:
                await self._handle(message)
            self._bugs.reset()
        except Exception as bug:  # noqa: BLE001 - one task's trouble is not that of the others
            self._bugs.note(bug, message_id=message.message_id)
        finally:
            await self._slots.give_back()

    async def _receive(self, free: int) -> Sequence[Received]:
        """Receive what the free slots can handle; nothing where the machine cannot even do that."""
        try:
            return await self._screened(free)
        except Exception as error:
            trouble = machine_trouble(error)
            if trouble is None:
                raise
            self.intake.machine.note(trouble)
        await self._unless_stopped(self._runtime.sleep(self._outages.next_seconds()))
        return ()

    async def _screened(self, free: int) -> Sequence[Received]:
        """Receive messages, and delete wake-ups that nothing is to be done for.

        Receive nothing after an outage, while paused or sick, or once replaced.
        """
        if await self.intake.is_held():
            rest = min(HOLD_SECONDS, self.intake.pause_switch.seconds)
            await self._unless_stopped(self._runtime.sleep(rest))
            return ()
        try:
            messages = await self._runtime.offload(
                self._inbox.receive,
                at_most=self._screening.at_most(free, whole_batch=self._polling.max_messages),
                wait_seconds=self._polling.wait_seconds,
                visibility_seconds=self._polling.visibility_seconds,
            )
        except Unavailable as outage:
            pause = self._outages.next_seconds()
            fields = {"error": str(outage), "pause_seconds": pause}
            logger.warning("queue is unavailable", extra=fields)
            await self._unless_stopped(self._runtime.sleep(pause))
            return ()
        self._outages.reset()
        await self._rest_if_idle(messages)
        left = await self._screening.left_of(messages)
        for message in left[free:]:  # the last of many needless ones came with others
            await self._put_back(message)
        return left[:free]

    async def _rest_if_idle(self, messages: Sequence[Received]) -> None:
        """Sleep after an empty answer, unless the queue is polled for a while anyway."""
        if messages:
            self._idling.reset()
        elif self._polling.wait_seconds == 0:
            await self._unless_stopped(self._runtime.sleep(self._idling.next_seconds()))

    async def _put_back(self, message: Received) -> None:
        try:
            await self._runtime.offload(self._inbox.extend, message, seconds=0)
        except Unavailable as outage:
            logger.warning("message comes back late", extra={"error": str(outage)})

    async def _unless_stopped(self, wait: Awaitable[object]) -> None:
        await first_of({"wait": wait, "stop": self._stop.asked.wait()})
