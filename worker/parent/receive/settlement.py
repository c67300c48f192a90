"""What follows from a verdict: the task is settled, tried again or handed back, and it is told."""

import math
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.tracing import trace_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.cancelling import REASON as CANCELLED
from switchyard.domain.tasks.claims import Flagged
from switchyard.domain.tasks.failures import FailureCategory, GiveUp, Retry, decide_retry
from switchyard.domain.tasks.giving_up import cancelled
from switchyard.domain.tasks.parking import Park, decide_park
from switchyard.domain.tasks.task import Json, Lease, Outcome, Task
from switchyard.observability import get_logger
from switchyard.ports import Claimed
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Fact
from worker.parent.attempts.verdict import (
    Cancelled,
    Completed,
    Conclusion,
    Failed,
    HandedBack,
    TimedOut,
    Verdict,
)
from worker.parent.coroutines import patiently

logger = get_logger("worker")

MAX_LAST_ERROR_CHARACTERS: Final = 200  # the control item stays small; the event has all of it


class Settling:
    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports

    async def settle(self, claimed: Claimed, verdict: Verdict) -> None:
        """When this returns, the message may go. Raise `Unavailable`, `LeaseLost` among them."""
        match verdict:
            case HandedBack():
                await self._hand_back(claimed, verdict.reason, delay_ms=verdict.delay_ms)
            case Failed():
                await self._settle_failure(claimed, verdict)
            case Completed():
                await self._store(claimed, _outcome(verdict), verdict.output)
            case _:
                await self._store(claimed, _outcome(verdict), None)

    async def _settle_failure(self, claimed: Claimed, failed: Failed) -> None:
        decision = self._decide(claimed.task, failed)
        match decision:
            case Park():
                delay = self._ports.randomness.between(decision.delay_ms, decision.longest_delay_ms)
                await self._hand_back(
                    claimed, decision.reason, delay_ms=round(delay), error=failed.error
                )
            case Retry():
                await self._retry(claimed, failed, decision)
            case GiveUp():
                await self._store(claimed, _outcome(failed), None)

    def _decide(self, task: Task, failed: Failed) -> Park | Retry | GiveUp:
        parking = decide_park(
            task,
            failed.category,
            retry_after_ms=failed.retry_after_ms,
            usage=failed.usage,
            now_ms=self._ports.clock.now_ms(),
        )
        return parking or decide_retry(
            failed.category, attempt=task.attempt, max_attempts=task.max_attempts
        )

    async def _store(self, claimed: Claimed, outcome: Outcome, output: Json) -> None:
        settled = await patiently(
            self._ports,
            self._ports.leases.settle,
            claimed.lease,
            outcome,
            output=output,
            now_ms=self._ports.clock.now_ms(),
        )
        fact = task_events.settled(settled, output=output)
        await patiently(self._ports, self._ports.emitter.emit, fact)
        logger.info("task is settled", extra=_fields(settled) | {"error": outcome.error})

    async def _retry(self, claimed: Claimed, failed: Failed, retry: Retry) -> None:
        drawn_ms = round(self._ports.randomness.between(0, retry.longest_delay_ms))
        delay_ms = max(drawn_ms, failed.retry_after_ms or 0)
        now_ms = self._ports.clock.now_ms()
        released = await self._release(
            claimed.lease,
            now_ms,
            delay_ms,
            give_attempt_back=False,
            error=failed.error,
        )
        await self._tell(
            task_events.attempt_failed(
                released, _outcome(failed), attempt=claimed.task.attempt, at_ms=now_ms
            )
        )
        fields = {"error": failed.error, "delay_ms": delay_ms}
        logger.warning("attempt failed", extra=_fields(claimed.task) | fields)

    async def _hand_back(
        self, claimed: Claimed, reason: str, *, delay_ms: int, error: str | None = None
    ) -> None:
        now_ms = self._ports.clock.now_ms()
        released = await self._release(
            claimed.lease, now_ms, delay_ms, give_attempt_back=True, error=error
        )
        await self._tell(task_events.released(released, reason=reason, at_ms=now_ms))
        logger.info("task is handed back", extra=_fields(claimed.task) | {"reason": reason})

    async def _release(
        self,
        lease: Lease,
        now_ms: int,
        delay_ms: int,
        *,
        give_attempt_back: bool,
        error: str | None = None,
    ) -> Task:
        """A fresh message, so that the queue's receive count counts crashes only.

        None if it was flagged in between: that would bring it back much too late.
        """
        released = await patiently(
            self._ports,
            self._ports.leases.release,
            lease,
            not_before_ms=now_ms + delay_ms,
            now_ms=now_ms,
            give_attempt_back=give_attempt_back,
            error=error and error[:MAX_LAST_ERROR_CHARACTERS],
        )
        if released.cancel_requested:
            ended = cancelled(Flagged(CANCELLED))
            if await give_up(self._ports, released, ended):
                return released
            delay_ms = 0
        await patiently(
            self._ports,
            self._ports.queue.send,
            [TaskMessage.waking(lease.task)],
            delay_seconds=math.ceil(delay_ms / 1000),
        )
        return released

    async def _tell(self, fact: Fact) -> None:
        """At best: the state item is authoritative for what does not settle a task."""
        try:
            await self._ports.offload(self._ports.emitter.emit, fact)
        except Unavailable as outage:
            logger.warning("event is not told", extra={"error": str(outage)})


def _outcome(verdict: Conclusion) -> Outcome:
    match verdict:
        case Completed():
            return Outcome(
                state=TaskState.COMPLETED,
                duration_ms=verdict.duration_ms,
                usage=verdict.usage,
                exit_code=0,
                artifacts=verdict.artifacts,
            )
        case Failed():
            return Outcome(
                state=TaskState.FAILED,
                duration_ms=verdict.duration_ms,
                usage=verdict.usage,
                exit_code=verdict.exit_code,
                error=verdict.error,
                error_category=verdict.category,
                artifacts=verdict.artifacts,
            )
        case TimedOut():
            return Outcome(
                state=TaskState.TIMED_OUT,
                duration_ms=verdict.duration_ms,
                usage=verdict.usage,
                error=f"timed out after {verdict.timeout_ms} ms",
                error_category=FailureCategory.TIMEOUT,
                timeout_ms=verdict.timeout_ms,
                signal=verdict.signal,
                artifacts=verdict.artifacts,
            )
        case Cancelled():
            return Outcome(
                state=TaskState.CANCELLED,
                duration_ms=verdict.duration_ms,
                usage=verdict.usage,
                error=CANCELLED,
                artifacts=verdict.artifacts,
            )


def _fields(task: Task) -> dict[str, str | int]:
    return {
        "request_id": task.ref.request_id,
        "trace_id": trace_of(task).trace_id,
        "state": task.state,
        "attempt": task.attempt,
        "fence": task.fence,
    }


async def give_up(ports: WorkerPorts, task: Task, outcome: Outcome) -> bool:
    """False when the task changed since it was read: the message will find out how."""
    now_ms = ports.clock.now_ms()
    settled = await patiently(ports, ports.leases.give_up, task, outcome, now_ms=now_ms)
    if settled is None:
        return False
    await patiently(ports, ports.emitter.emit, task_events.settled(settled, output=None))
    return True
