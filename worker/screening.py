"""Deletes wake-ups that nothing has to be done for, in batches and without a slot.

A cancel leaves a wake-up behind for each task that was queued. The first one that is refused turns
the screening on; a batch that has none turns it off: where all is well, it costs nothing.
"""

from collections.abc import Sequence
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import Malformed, TaskMessage, parse_message
from switchyard.domain.errors import SwitchyardError, Unavailable
from switchyard.domain.tasks.claims import why_needless
from switchyard.observability import get_logger
from switchyard.ports import Received
from worker.deletions import Deletions

logger = get_logger("worker")

IN_A_ROW: Final = 10
"""After so many needless wake-ups, with none other among them, whole batches are received."""
PAUSE_SECONDS: Final = 0.02
"""Between two such batches: a worker deletes at most five hundred messages a second."""


class Screening:
    def __init__(self, ports: WorkerPorts, deletions: Deletions) -> None:
        self._ports = ports
        self.deletions = deletions
        self._on = False
        self._in_a_row = 0

    def note_refused(self) -> None:
        """A task had settled, or its job was cancelled: there may be more such wake-ups."""
        self._on = True

    def at_most(self, free: int, *, whole_batch: int) -> int:
        """How many messages to receive: more than can be handled only while none has to be."""
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
            await self._ports.sleep(PAUSE_SECONDS)
        return left

    async def _needless(self, messages: Sequence[Received]) -> set[str]:
        """The receipts of those that may go. What cannot be judged here goes the usual way."""
        wake_ups = {
            message.receipt: wake_up for message in messages if (wake_up := self._read(message))
        }
        if not wake_ups:
            return set()
        try:
            seen = await self._ports.offload(
                self._ports.leases.look_at, [wake_up.ref for wake_up in wake_ups.values()]
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
            found = parse_message(message, tenant=self._ports.tenant_id)
        except (Malformed, SwitchyardError):
            return None
        return found if isinstance(found, TaskMessage) and not found.ref.hidden else None
