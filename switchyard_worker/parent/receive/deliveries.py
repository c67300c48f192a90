"""Handles one delivered message: claims a task, runs the attempt and settles it, or parks it.

The message is deleted last, once the outcome is stored and emitted, and the task that the message
names needs it no more.
"""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from switchyard.contracts.messages import Malformed
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
from switchyard.domain.tasks.task import Lease
from switchyard.observability import get_logger
from switchyard.ports import Claimed, Clock, Received, TaskInbox
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.verdict import Concluded, Verdict, cancelled, failed_by
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.health.machine import Machine, given_back, machine_trouble
from switchyard_worker.parent.health.stop import Stop
from switchyard_worker.parent.receive.cancel_checks import CancelChecks
from switchyard_worker.parent.receive.intake import Intake, Screening
from switchyard_worker.parent.receive.lease import Keepalive
from switchyard_worker.parent.receive.settlement import Settlement
from switchyard_worker.parent.receive.tokens import Taken, Token, Tokens

logger = get_logger("worker")

SETTLE_PAUSE_SECONDS: Final = 1.0
NEWER_PAUSE_SECONDS: Final = 60
"""Until a message of a newer version is received again, by a newer worker if one is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredMessages:
    """Handles messages that this worker, or any worker, cannot answer."""

    runtime: Runtime
    inbox: TaskInbox
    parking: MessageParking
    visibility_seconds: int

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

    async def keep_hidden(self, received: Received) -> None:
        """Hide a message for as long as a new one: another task is run under it."""
        try:
            await self.runtime.offload(self.inbox.extend, received, seconds=self.visibility_seconds)
        except Unavailable as outage:
            logger.warning("visibility is not extended", extra=message_fields(received, outage))

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
    tokens: Tokens
    keep_lease: KeepLease
    checks: CancelChecks
    unanswered: UnansweredMessages
    attempts: Attempts
    settlement: Settlement
    intake: Intake
    stop: Stop
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
        """Return whether the message may be deleted."""
        try:
            token = Token(self.tokens.claims.read(received))
            await self._serve(token, received)
        except (Malformed, UnknownTask, UnknownDefinition) as problem:
            await self.unanswered.park(received, problem)
            return True
        return not token.comes_again

    async def _serve(self, token: Token, received: Received) -> None:
        """Run tasks under a token until the one that it names needs it no more."""
        while taken := await self.tokens.take(token):
            await self._run(taken, token, received)
            if token.spent or not await self.tokens.look(token):
                return
            if self.stop.asked.is_set() or await self.intake.is_held():
                await self.tokens.send_again(token, delayed=False)
                return
            await self.unanswered.keep_hidden(received)
        if token.needless:
            self.screening.note_refused()

    async def _run(self, taken: Taken, token: Token, received: Received) -> None:
        """Run an attempt, and charge what it cost, however it ended."""
        claimed, verdict = taken.claimed, None
        keepalive = self.keep_lease(claimed.lease, received, taken.taken_at)
        checking = self.checks.checking(claimed.lease, keepalive.cancel_requested)
        try:
            with self.intake.protection.holding(claimed.lease), checking:
                verdict = await self._attempt(claimed, keepalive, token, received)
        finally:
            used = verdict.outcome.usage.cost_usd if isinstance(verdict, Concluded) else 0.0
            seconds = self.clock.monotonic() - taken.taken_at
            self.tokens.clocks.settle(taken.charge, model_usd=used, slot_seconds=seconds)

    async def _attempt(
        self, claimed: Claimed, keepalive: Keepalive, token: Token, received: Received
    ) -> Verdict:
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
                await self._settle_bug(claimed, token, received, bug)
                raise
            verdict = given_back(trouble)  # not even a note of it could be made
        await self._settle(claimed, verdict, keepalive)
        return verdict

    async def _settle_bug(
        self, claimed: Claimed, token: Token, received: Received, bug: Exception
    ) -> None:
        with contextlib.suppress(Unavailable):  # then the message comes again
            await self.settlement.settle(claimed, failed_by(bug, self.attempts.redaction))
            if token.spent:
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
