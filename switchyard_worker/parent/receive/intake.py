"""Decides what this worker takes in: whether it may receive, and which messages it handles.

It says how busy the worker is, too.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.messages import Malformed, TaskMessage, parse_message
from switchyard.domain.errors import SwitchyardError, Unavailable
from switchyard.domain.health.presence import Load, Pause
from switchyard.domain.health.rollout import decide_hold
from switchyard.domain.tasks.claim_refusals import why_needless
from switchyard.observability import get_logger
from switchyard.ports import Clock, PauseSwitch, Received, TaskLeases
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.health.machine import Machine
from switchyard_worker.parent.receive.deletions import Deletions
from switchyard_worker.parent.receive.rollout import Protection, Replacement

logger = get_logger("worker")

SECONDS_BETWEEN_LOOKS: Final = 10.0
"""How long an answer to whether consumption is paused is used at most."""


class ConsumptionPause:
    """Knows whether operators have paused the consumption of tasks."""

    def __init__(
        self, runtime: Runtime, pause_switch: PauseSwitch, seconds: float = SECONDS_BETWEEN_LOOKS
    ) -> None:
        self.seconds = seconds
        self._runtime = runtime
        self._pause_switch = pause_switch
        self._pause: Pause | None = None
        self.parts: frozenset[str] = frozenset()
        """The queues, definitions and tenants that are paused, as they were read."""
        self._next_look = runtime.clock.monotonic()

    async def pause(self) -> Pause | None:
        """Return the pause as it was read within the last seconds; an outage changes nothing."""
        now = self._runtime.clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + min(SECONDS_BETWEEN_LOOKS, self.seconds)
            await self._look()
        return self._pause

    async def _look(self) -> None:
        try:
            pause = await self._runtime.offload(self._pause_switch.paused)
            self.parts = await self._runtime.offload(self._pause_switch.paused_parts)
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


IN_A_ROW: Final = 10
"""After so many needless wake-ups, with none other among them, whole batches are received."""
PAUSE_SECONDS: Final = 0.02
"""Between two such batches: a worker deletes at most five hundred messages a second."""


class Screening:
    """Deletes needless wake-ups unhandled, in batches: after a cancel there may be thousands."""

    def __init__(
        self,
        runtime: Runtime,
        leases: TaskLeases,
        deletions: Deletions,
        *,
        tenant_id: str | None,
    ) -> None:
        """`tenant_id` owns the tasks of other producers."""
        self._runtime = runtime
        self._leases = leases
        self._tenant_id = tenant_id
        self.deletions = deletions
        self._on = False
        self._in_a_row = 0

    def note_refused(self) -> None:
        """Turn screening on: a needless wake-up was received, so there may be more."""
        self._on = True

    def at_most(self, free: int, *, whole_batch: int) -> int:
        """Return how many messages to receive: more than free slots only while all are needless."""
        return whole_batch if self._on and self._in_a_row >= IN_A_ROW else free

    async def left_of(self, messages: Sequence[Received]) -> Sequence[Received]:
        """Delete what is needless, and return the others."""
        if not self._on:
            return messages
        needless = await self._needless(messages)
        left = [message for message in messages if message.receipt not in needless]
        for message in messages:
            if message.receipt in needless:
                self.deletions.add(message)
        self._on = bool(needless)
        self._in_a_row = 0 if left or not needless else self._in_a_row + len(needless)
        if needless and not left:
            await self._runtime.sleep(PAUSE_SECONDS)
        return left

    async def _needless(self, messages: Sequence[Received]) -> set[str]:
        """Return the receipts of needless messages; one that cannot be parsed is not among them."""
        wake_ups = {
            message.receipt: wake_up for message in messages if (wake_up := self._read(message))
        }
        if not wake_ups:
            return set()
        try:
            seen = await self._runtime.offload(
                self._leases.look_at, [wake_up.ref for wake_up in wake_ups.values()]
            )
        except Unavailable as outage:
            logger.warning("wake-ups cannot be screened", extra={"error": str(outage)})
            return set()
        needless = {
            receipt
            for receipt, wake_up in wake_ups.items()
            if (found := seen.get(wake_up.ref))
            and why_needless(found.task, run=wake_up.run, job_cancelled=found.job_cancelled)
        }
        logger.info("wake-ups are screened", extra={"of": len(messages), "needless": len(needless)})
        return needless

    def _read(self, message: Received) -> TaskMessage | None:
        try:
            found = parse_message(message, tenant=self._tenant_id)
        except (Malformed, SwitchyardError):
            return None
        return found if isinstance(found, TaskMessage) and not found.ref.hidden else None
