"""Decides whether this worker may receive messages, and says how busy it is."""

import asyncio
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.pause import Pause
from switchyard.domain.health.presence import Load
from switchyard.domain.health.rollout import decide_hold
from switchyard.observability import get_logger
from switchyard.ports import Clock, PauseSwitch
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.receive.rollout import Protection, Replacement

logger = get_logger("worker")

SECONDS_BETWEEN_LOOKS: Final = 10.0
"""How long an answer to whether consumption is paused is used."""


class ConsumptionPause:
    """Knows whether operators have paused the consumption of tasks."""

    def __init__(self, runtime: Runtime, pause_switch: PauseSwitch) -> None:
        self._runtime = runtime
        self._pause_switch = pause_switch
        self._pause: Pause | None = None
        self._next_look = runtime.clock.monotonic()

    async def pause(self) -> Pause | None:
        """Return the pause as it was read within the last seconds; an outage changes nothing."""
        now = self._runtime.clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + SECONDS_BETWEEN_LOOKS
            await self._look()
        return self._pause

    async def _look(self) -> None:
        try:
            pause = await self._runtime.offload(self._pause_switch.paused)
        except Unavailable as outage:
            logger.warning("pause of consumption cannot be read", extra={"error": str(outage)})
            return
        if pause and not self._pause:
            logger.warning("consumption is paused", extra={"reason": pause.reason})
        elif self._pause and not pause:
            logger.info("consumption is resumed")
        self._pause = pause


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    clock: Clock
    pause_switch: ConsumptionPause
    replacement: Replacement
    protection: Protection
    machine: Machine

    async def is_held(self) -> bool:
        """Return whether nothing is received now: paused, replaced, or on a sick machine."""
        pause = await self.pause_switch.pause()
        deployment, sick = self.replacement.deployment, self.machine.sick
        return decide_hold(pause=pause, deployment=deployment, sick=sick) is not None

    @property
    def load(self) -> Load:
        """Return what the worker does; a slot that waits for a message is not busy."""
        deployment = self.replacement.deployment
        remaining = self.protection.remaining_seconds
        until_ms = None
        if remaining is not None:
            until_ms = self.clock.now_ms() + round(1000 * remaining)
        return Load(
            busy=self.protection.held,
            release=deployment.own if deployment else None,
            draining=self.replacement.replaced,
            busy_until_ms=until_ms,
            sick=self.machine.sick,
        )

    @property
    def changed(self) -> asyncio.Event:
        """Return an event that is set when the worker is replaced or sick, or is no longer."""
        return self.replacement.changed
