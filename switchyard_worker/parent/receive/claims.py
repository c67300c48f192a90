"""Claims the tasks that messages are about, and parks messages that no worker can answer."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from switchyard.contracts.messages import ForeignTask, TaskMessage, parse_message
from switchyard.contracts.parked_messages import LEFT_TO_NEWER_LOG, PARKED_LOG
from switchyard.domain.errors import NewerVersion, Unavailable, UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.observability import get_logger
from switchyard.ports import Claimed, Received, Refused, TaskInbox, TaskLeases
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard_worker.parent.coroutines import Runtime

logger = get_logger("worker")

NEWER_PAUSE_SECONDS: Final = 60
"""Until a message of a newer version is received again, by a newer worker if one is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    runtime: Runtime
    leases: TaskLeases
    adopter: Adopter
    worker_id: str
    tenant_id: str | None
    """Whose other producers' tasks are; `None` if none are taken in."""
    lease_ms: int
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def claim(self, received: Received) -> Claimed | Refused:
        """Claim the task of a message; adopt one of another producer first.

        Raise `Malformed`, `UnknownTask` or `UnknownDefinition`.
        """
        message = parse_message(received, tenant=self.tenant_id)
        return await self._claim(message)

    async def _claim(self, message: TaskMessage | ForeignTask) -> Claimed | Refused:
        answer = await self._try_to_claim(message.ref)
        if answer is None and isinstance(message, ForeignTask):
            await self.runtime.offload(self.adopter.adopt, message)
            answer = await self._try_to_claim(message.ref)
        if answer is None:
            raise UnknownTask(message.ref.request_id)
        return answer

    async def _try_to_claim(self, ref: TaskRef) -> Claimed | Refused | None:
        if ref.hidden:  # no worker is ever woken for these
            return None
        return await self.runtime.offload(
            self.leases.claim,
            ref,
            owner=f"{self.worker_id}/{next(self._numbers)}",
            now_ms=self.runtime.clock.now_ms(),
            lease_ms=self.lease_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredMessages:
    """Handles messages that this worker, or any worker, cannot answer."""

    runtime: Runtime
    inbox: TaskInbox
    parking: MessageParking

    async def leave_to_newer(self, received: Received, newer: NewerVersion) -> None:
        """Make a message of a newer version visible again after a pause.

        The queue counts how often, and then moves it to the dead-letter queue, whose processor
        reads it.
        """
        logger.warning(LEFT_TO_NEWER_LOG, extra=message_fields(received, newer))
        try:
            await self.runtime.offload(self.inbox.extend, received, seconds=NEWER_PAUSE_SECONDS)
        except Unavailable as outage:
            logger.warning("message comes back late", extra=message_fields(received, outage))

    async def park(self, received: Received, problem: Exception) -> None:
        """Store a message that no retry can help. Raise `Unavailable`: then it has to come back."""
        parked = await self.runtime.offload(self.parking.park, received, str(problem))
        fields = {"message_id": parked.id, "reason": parked.reason, "key": parked.key}
        logger.error(PARKED_LOG, extra=fields)


def message_fields(received: Received, problem: Exception) -> dict[str, str]:
    return {"message_id": received.message_id, "error": str(problem)}
