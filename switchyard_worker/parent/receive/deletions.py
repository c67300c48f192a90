"""Deletes messages: handled ones of several slots in one call, needless ones in batches.

Nothing waits for it: a message that is not deleted after all comes again, and finds its task done.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from switchyard.contracts.messages import Malformed, TaskMessage, parse_message
from switchyard.domain.errors import SwitchyardError, Unavailable
from switchyard.domain.tasks.claims import why_needless
from switchyard.observability import get_logger
from switchyard.ports import Received, TaskInbox, TaskLeases
from switchyard_worker.parent.coroutines import Runtime, first_of
from switchyard_worker.parent.receive.lease import LeaseTiming

logger = get_logger("worker")

LONGEST_LINGER_SECONDS: Final = 2.0
SHARE_OF_VISIBILITY: Final = 0.1  # it would be a pity if a message came again meanwhile


class Deletions:
    def __init__(self, runtime: Runtime, inbox: TaskInbox, timing: LeaseTiming) -> None:
        self._runtime = runtime
        self._inbox = inbox
        self._linger_seconds = min(
            LONGEST_LINGER_SECONDS, SHARE_OF_VISIBILITY * timing.visibility_seconds
        )
        self._messages: list[Received] = []
        self._some = asyncio.Event()
        self._closed = asyncio.Event()

    def add(self, message: Received) -> None:
        self._messages.append(message)
        self._some.set()

    def close(self) -> None:
        """Close for new messages."""
        self._closed.set()

    async def keep(self) -> None:
        """Delete messages until this is closed and all are deleted."""
        while await self._wait() == "some":
            linger = self._runtime.sleep(self._linger_seconds)
            await first_of({"closed": self._closed.wait(), "linger": linger})
            await self._flush()
        await self._flush()

    async def _wait(self) -> str:
        return await first_of({"closed": self._closed.wait(), "some": self._some.wait()})

    async def _flush(self) -> None:
        messages, self._messages = self._messages, []
        self._some.clear()
        if not messages:
            return
        try:
            await self._runtime.offload(self._inbox.delete, *messages)
        except Unavailable as outage:
            fields = {"messages": len(messages), "error": str(outage)}
            logger.warning("messages are not deleted", extra=fields)


IN_A_ROW: Final = 10
"""After so many needless wake-ups, with none other among them, whole batches are received."""
PAUSE_SECONDS: Final = 0.02
"""Between two such batches: a worker deletes at most five hundred messages a second."""


class Screening:
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
