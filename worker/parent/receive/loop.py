"""The worker's loop: slots, then messages; each message is handled beside the others."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Final, Self

from switchyard.bootstrap import WorkerPorts
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.consumption import Pause
from switchyard.domain.health.presence import Load
from switchyard.domain.health.rollout import decide_hold
from switchyard.observability import get_logger
from switchyard.ports import Received
from worker.parent.coroutines import Pauses, first_of
from worker.parent.health.machine import Machine
from worker.parent.health.stop import Bugs, Stop
from worker.parent.receive.deletions import Screening
from worker.parent.receive.rollout import Protection, Replacement

logger = get_logger("worker")

LONGEST_IDLE_PAUSE_SECONDS: Final = 5.0
SECONDS_BETWEEN_LOOKS: Final = 10.0
"""How long an answer to whether consumption is paused is used."""
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


class Loop:
    def __init__(
        self,
        ports: WorkerPorts,
        *,
        handle: Handle,
        stop: Stop,
        protection: Protection,
        machine: Machine,
        screening: Screening,
        polling: Polling,
        bugs: Bugs | None = None,
    ) -> None:
        self._ports = ports
        self._handle = handle
        self._stop = stop
        self._slots = Slots(polling.slots)
        self._protection = protection
        self._replacement = Replacement(ports, protection, stop=stop)
        self.machine = machine
        self._deletions = screening.deletions
        self._screening = screening
        self._polling = polling
        self._bugs = bugs or Bugs(ports.clock, stop)
        self._companions: Sequence[Companion] = ()
        self._consumption = ConsumptionPause(ports)
        self._leaving = asyncio.Event()
        self._outages = Pauses(ports.randomness)
        self._idling = Pauses(ports.randomness, longest_seconds=LONGEST_IDLE_PAUSE_SECONDS)

    def beside(self, *companions: Companion) -> Self:
        """Run them beside the slots, and cancel them when these are empty."""
        self._companions = companions
        return self

    @property
    def load(self) -> Load:
        """What the worker does; a slot that waits for a message is not busy."""
        deployment = self._replacement.deployment
        remaining = self._protection.remaining_seconds
        until_ms = None
        if remaining is not None:
            until_ms = self._ports.clock.now_ms() + round(1000 * remaining)
        return Load(
            busy=self._protection.held,
            release=deployment.own if deployment else None,
            draining=self._replacement.replaced,
            busy_until_ms=until_ms,
            sick=self.machine.sick,
        )

    @property
    def changed(self) -> asyncio.Event:
        """Set when the worker is replaced, or is no longer."""
        return self._replacement.changed

    async def begin(self) -> None:
        """Read whether consumption is paused; AWS's first answer also says what time it is."""
        await self._consumption.pause()

    async def run(self) -> None:
        """Until a stop was asked for and everything that ran has finished or was handed back.

        Raise `Unhealthy` if it stopped by itself.
        """
        async with asyncio.TaskGroup() as beside:
            beside.create_task(self._protection.keep())
            beside.create_task(self._deletions.keep())
            beside.create_task(self._replacement.watch())
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
            # It arrived during a long poll that began before the stop or the replacement was known.
            if self._stop.asked.is_set() or self._replacement.replaced:
                await self._put_back(message)
            else:
                await self._handle(message)
            self._bugs.reset()
        except Exception as bug:  # noqa: BLE001 - one task's trouble is not that of the others
            self._bugs.note(bug, message_id=message.message_id)
        finally:
            await self._slots.give_back()

    async def _receive(self, free: int) -> Sequence[Received]:
        """Receive what the free slots can handle; wake-ups that nothing is to be done for are
        deleted. Receive nothing after an outage, while paused or sick, or once replaced.
        """
        paused = await self._consumption.pause()
        deployment, sick = self._replacement.deployment, self.machine.sick
        if decide_hold(pause=paused, deployment=deployment, sick=sick) is not None:
            await self._unless_stopped(self._ports.sleep(HOLD_SECONDS))
            return ()
        try:
            messages = await self._ports.offload(
                self._ports.inbox.receive,
                at_most=self._screening.at_most(free, whole_batch=self._polling.max_messages),
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
        left = await self._screening.left_of(messages)
        for message in left[free:]:  # the last of many needless ones came with others
            await self._put_back(message)
        return left[:free]

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


class ConsumptionPause:
    """Knows whether operators have paused the consumption of tasks."""

    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports
        self._pause: Pause | None = None
        self._next_look = ports.clock.monotonic()

    async def pause(self) -> Pause | None:
        """As it was seen within the last seconds; what cannot be seen stays as it was."""
        now = self._ports.clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + SECONDS_BETWEEN_LOOKS
            await self._look()
        return self._pause

    async def _look(self) -> None:
        try:
            pause = await self._ports.offload(self._ports.consumption.paused)
        except Unavailable as outage:
            logger.warning("pause of consumption cannot be read", extra={"error": str(outage)})
            return
        if pause and not self._pause:
            logger.warning("consumption is paused", extra={"reason": pause.reason})
        elif self._pause and not pause:
            logger.info("consumption is resumed")
        self._pause = pause
