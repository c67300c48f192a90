"""Settles a task after an attempt: stores its outcome, tries it again, or hands it back."""

import math
from dataclasses import dataclass, replace
from typing import Final

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.scheduling.limits import limits_of
from switchyard.domain.tasks.cancellation import REASON as CANCELLED
from switchyard.domain.tasks.claim_refusals import Flagged, cancelled
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.postponement import Postpone, decide_postponement
from switchyard.domain.tasks.retries import GiveUp, Retry, decide_retry
from switchyard.domain.tasks.task import Lease, Outcome, Task
from switchyard.observability import get_logger
from switchyard.ports import Claimed, StartLimits, TaskLeases, TaskQueue
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter, Fact
from switchyard.usecases.scheduling.marks import Marks, places_of
from switchyard_worker.parent.attempts.verdict import Concluded, HandedBack, Verdict
from switchyard_worker.parent.coroutines import Runtime, with_retries

logger = get_logger("worker")

MAX_LAST_ERROR_CHARACTERS: Final = 200  # the control item stays small; the event has all of it


@dataclass(frozen=True, slots=True)
class Settlement:
    runtime: Runtime
    leases: TaskLeases
    queue: TaskQueue
    emitter: Emitter
    limits: StartLimits
    marks: Marks

    async def settle(self, claimed: Claimed, verdict: Verdict) -> None:
        """Do what follows from a verdict; afterwards the message may be deleted.

        Raise `Unavailable`, `LeaseLost` among them.
        """
        if isinstance(verdict, HandedBack):
            await self._hand_back(
                claimed, verdict.reason, delay_ms=verdict.delay_ms, error=verdict.error
            )
        elif verdict.failed:
            await self._settle_failure(claimed, verdict)
        else:
            await self._store(claimed, verdict)

    async def give_up(self, task: Task, outcome: Outcome) -> bool:
        """Settle a task that no worker runs. Return false if it changed since it was read.

        Then the message has to be received again, to find out how.
        """
        now_ms = self.runtime.clock.now_ms()
        settled = await with_retries(
            self.runtime, self.leases.give_up, task, outcome, now_ms=now_ms
        )
        if settled is None:
            return False
        await self._let_in(task)
        fact = task_events.settled(settled, output=None)
        await with_retries(self.runtime, self.emitter.emit, fact)
        return True

    async def _settle_failure(self, claimed: Claimed, failure: Concluded) -> None:
        decision = self._decide(claimed.task, failure)
        match decision:
            case Postpone():
                delay = self.runtime.randomness.between(
                    decision.delay_ms, decision.longest_delay_ms
                )
                await self._hand_back(
                    claimed,
                    decision.reason,
                    delay_ms=round(delay),
                    error=failure.outcome.error,
                )
            case Retry():
                await self._retry(claimed, failure, decision)
            case GiveUp():
                await self._store(claimed, replace(failure, output=None))

    def _decide(self, task: Task, failure: Concluded) -> Postpone | Retry | GiveUp:
        category = failure.category or FailureCategory.PROGRAMMING
        postponement = decide_postponement(
            task,
            category,
            retry_after_ms=failure.retry_after_ms,
            usage=failure.outcome.usage,
            now_ms=self.runtime.clock.now_ms(),
        )
        return postponement or decide_retry(
            category, attempt=task.attempt, max_attempts=task.max_attempts
        )

    async def _store(self, claimed: Claimed, verdict: Concluded) -> None:
        outcome, output = verdict.outcome, verdict.output
        settled = await with_retries(
            self.runtime,
            self.leases.settle,
            claimed.lease,
            outcome,
            output=output,
            now_ms=self.runtime.clock.now_ms(),
            checked=verdict.checked,
        )
        fact = task_events.settled(settled, output=output)
        await with_retries(self.runtime, self.emitter.emit, fact)
        logger.info("task is settled", extra=_fields(settled) | {"error": outcome.error})
        await self._let_in(settled)

    async def _retry(self, claimed: Claimed, failure: Concluded, retry: Retry) -> None:
        drawn_ms = round(self.runtime.randomness.between(0, retry.longest_delay_ms))
        delay_ms = max(drawn_ms, failure.retry_after_ms or 0)
        now_ms = self.runtime.clock.now_ms()
        error = failure.outcome.error
        released = await self._release(
            claimed.lease,
            now_ms,
            delay_ms,
            give_attempt_back=False,
            error=error,
            checked=failure.checked,
        )
        await self._emit_once(
            task_events.attempt_failed(
                released, failure.outcome, attempt=claimed.task.attempt, at_ms=now_ms
            )
        )
        fields: dict[str, str | int | None] = {"error": error, "delay_ms": delay_ms}
        logger.warning("attempt failed", extra=_fields(claimed.task) | fields)

    async def _hand_back(
        self, claimed: Claimed, reason: str, *, delay_ms: int, error: str | None = None
    ) -> None:
        now_ms = self.runtime.clock.now_ms()
        released = await self._release(
            claimed.lease, now_ms, delay_ms, give_attempt_back=True, error=error
        )
        await self._emit_once(task_events.released(released, reason=reason, at_ms=now_ms))
        logger.info("task is handed back", extra=_fields(claimed.task) | {"reason": reason})

    async def _release(
        self,
        lease: Lease,
        now_ms: int,
        delay_ms: int,
        *,
        give_attempt_back: bool,
        error: str | None = None,
        checked: CheckedCommitments | None = None,
    ) -> Task:
        """Release the lease and send a new message, so that the receive count counts crashes only.

        A task that was flagged in between is given up at once: the message would bring it back
        much too late.
        """

        def release() -> Task:
            with self.marks.around(places_of([lease.task])):
                return self.leases.release(
                    lease,
                    not_before_ms=now_ms + delay_ms,
                    now_ms=now_ms,
                    give_attempt_back=give_attempt_back,
                    error=error and error[:MAX_LAST_ERROR_CHARACTERS],
                    checked=checked,
                )

        released = await with_retries(self.runtime, release)
        if released.cancel_requested:
            if await self.give_up(released, cancelled(Flagged(CANCELLED))):
                return released
            delay_ms = 0
        await with_retries(
            self.runtime,
            self.queue.send,
            [TaskMessage.waking(released)],
            delay_seconds=math.ceil(delay_ms / 1000),
        )
        await self._let_in(released)
        return released

    async def _let_in(self, task: Task) -> None:
        """Wake tasks that waited for a place that this one had; the next sweep does it as well."""
        for ref in limits_of(task):
            try:
                now_ms = self.runtime.clock.now_ms()
                moved = await self.runtime.offload(self.limits.let_in, ref, now_ms=now_ms)
                if moved:
                    wake_ups = [TaskMessage.waking(one) for one in moved]
                    await self.runtime.offload(self.queue.send, wake_ups)
            except Unavailable as outage:
                fields = {"limit": ref.name, "error": str(outage)}
                logger.warning("nobody is let in by a limit", extra=fields)

    async def _emit_once(self, fact: Fact) -> None:
        """Emit without a retry: an event that settles no task may be lost, its state is not."""
        try:
            await self.runtime.offload(self.emitter.emit, fact)
        except Unavailable as outage:
            logger.warning("event is not emitted", extra={"error": str(outage)})


def _fields(task: Task) -> dict[str, str | int | None]:
    return {
        "request_id": task.ref.request_id,
        "trace_id": trace_of(task).trace_id,
        "state": task.state,
        "attempt": task.attempt,
        "fence": task.fence,
    }
