"""Handles one delivered message: claims its task, runs the attempt and settles it, or parks it.

The message is deleted last, once its outcome is stored and emitted.
"""

import contextlib
import itertools
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from switchyard.contracts.messages import ForeignTask, Malformed, TaskMessage, parse_message
from switchyard.contracts.parked_messages import LEFT_TO_NEWER_LOG, PARKED_LOG
from switchyard.domain.errors import (
    LeaseLost,
    MustNotStart,
    NewerVersion,
    Rejected,
    SwitchyardError,
    Unavailable,
    UnknownDefinition,
    UnknownTask,
)
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.claim_refusals import Done
from switchyard.domain.tasks.task import Lease
from switchyard.observability import get_logger
from switchyard.ports import Claimed, ClaimRefused, Clock, Received, TaskInbox, TaskLeases
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.verdict import Verdict, cancelled, failed_by
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.health.machine import Machine, given_back, machine_trouble
from switchyard_worker.parent.receive.cancel_checks import CancelChecks
from switchyard_worker.parent.receive.intake import Screening
from switchyard_worker.parent.receive.lease import Keepalive
from switchyard_worker.parent.receive.rollout import Protection
from switchyard_worker.parent.receive.settlement import RefusedClaims, Settlement

logger = get_logger("worker")

SETTLE_PAUSE_SECONDS: Final = 1.0
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

    async def claim(self, received: Received) -> Claimed | ClaimRefused:
        """Claim the task of a message; adopt one of another producer first.

        Raise `Malformed`, `UnknownTask` or `UnknownDefinition`.
        """
        message = parse_message(received, tenant=self.tenant_id)
        return await self._claim(message)

    async def _claim(self, message: TaskMessage | ForeignTask) -> Claimed | ClaimRefused:
        answer = await self._try_to_claim(message.ref)
        if answer is None and isinstance(message, ForeignTask):
            await self.runtime.offload(self.adopter.adopt, message)
            answer = await self._try_to_claim(message.ref)
        if answer is None:
            raise UnknownTask(message.ref.request_id)
        return answer

    async def _try_to_claim(self, ref: TaskRef) -> Claimed | ClaimRefused | None:
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


class Attempts(Protocol):
    """Runs attempts: with a child, or in a simulation."""

    @property
    def redaction(self) -> Redaction:
        """Return what removes the Claude key from texts that belong to no attempt."""

    def run(self, claimed: Claimed, keepalive: Keepalive) -> Awaitable[Verdict]:
        """Raise `LeaseLost`, once nothing of the attempt runs any more.

        Raise as well whatever shows that the machine is in trouble.
        """


KeepLease = Callable[[Lease, Received, float], Keepalive]
"""Makes the keepalive of a lease, its message and the monotonic time before it was claimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    clock: Clock
    claims: Claims
    keep_lease: KeepLease
    checks: CancelChecks
    unanswered: UnansweredMessages
    attempts: Attempts
    settlement: Settlement
    refusals: RefusedClaims
    protection: Protection
    screening: Screening
    machine: Machine

    async def handle(self, received: Received) -> None:
        """Answer a message and delete it; one that is not deleted is received again."""
        try:
            if await self._answer(received):
                self.screening.deletions.add(received)
        except NewerVersion as newer:
            await self.unanswered.leave_to_newer(received, newer)
        except LeaseLost as lost:
            logger.warning("lease is lost", extra=message_fields(received, lost))
        except Unavailable as outage:
            logger.warning("message is left to come again", extra=message_fields(received, outage))
        except Rejected as problem:  # the message goes to the dead-letter queue
            logger.error("message cannot be answered", extra=message_fields(received, problem))
        except Exception as error:
            trouble = machine_trouble(error)
            if trouble is None:
                raise
            self.machine.note(trouble)  # no bug: the message comes again, to another worker

    async def _answer(self, received: Received) -> bool:
        taken_at = self.clock.monotonic()
        try:
            answer = await self.claims.claim(received)
        except (Malformed, UnknownTask, UnknownDefinition) as problem:
            await self.unanswered.park(received, problem)
            return True
        match answer:
            case Claimed():
                keepalive = self.keep_lease(answer.lease, received, taken_at)
                checking = self.checks.checking(answer.lease, keepalive.cancel_requested)
                with self.protection.holding(answer.lease), checking:
                    await self._attempt(answer, keepalive, received)
                return True
            case ClaimRefused():
                if isinstance(answer.decision, Done):
                    self.screening.note_refused()
                return await self.refusals.answer(answer)

    async def _attempt(self, claimed: Claimed, keepalive: Keepalive, received: Received) -> None:
        """Run an attempt and settle its task; settle a bug of ours as a failure, and raise it."""
        try:
            verdict = await self._verdict(claimed, keepalive)
        except MustNotStart:
            self.screening.note_refused()
            verdict = cancelled(duration_ms=0)
        except SwitchyardError:
            raise
        except Exception as bug:
            trouble = machine_trouble(bug)
            if trouble is None:
                await self._settle_bug(claimed, received, bug)
                raise
            verdict = given_back(trouble)  # not even a note of it could be made
        await self._settle(claimed, verdict, keepalive)

    async def _settle_bug(self, claimed: Claimed, received: Received, bug: Exception) -> None:
        with contextlib.suppress(Unavailable):  # then the message comes again
            await self.settlement.settle(claimed, failed_by(bug, self.attempts.redaction))
            self.screening.deletions.add(received)

    async def _settle(self, claimed: Claimed, verdict: Verdict, keepalive: Keepalive) -> None:
        """Settle a task; where the machine cannot even do that, try again until the lease ends."""
        while True:
            try:
                return await self.settlement.settle(claimed, verdict)
            except SwitchyardError:
                raise
            except Exception as error:
                trouble = machine_trouble(error)
                if trouble is None or keepalive.remaining_seconds() <= 0:
                    raise
                with contextlib.suppress(MemoryError, OSError):  # not even for a line in the log
                    self.machine.note(trouble)
            await self.settlement.runtime.sleep(SETTLE_PAUSE_SECONDS)

    async def _verdict(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        try:
            verdict = await self.attempts.run(claimed, keepalive)
        except Exception as error:
            trouble = machine_trouble(error)
            if trouble is None:
                raise
            return self.machine.give_back(claimed.task, trouble)
        return await self.machine.judge(claimed.task, verdict)
