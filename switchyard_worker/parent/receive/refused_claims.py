"""Does what a task needs whose claim was refused, and keeps the ready index true."""

from dataclasses import dataclass

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.tasks.claim_refusals import (
    Busy,
    Done,
    Exhausted,
    Flagged,
    LimitFull,
    NotYet,
    cancelled,
    exhausted,
)
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import ClaimRefused, Payloads, ReadyIndex, StartLimits, TaskQueue
from switchyard.usecases.events.emit_again import emit_again
from switchyard.usecases.scheduling.marks import places_of
from switchyard_worker.parent.coroutines import Runtime, with_retries
from switchyard_worker.parent.receive.settlement import Settlement

logger = get_logger("worker")


@dataclass(frozen=True, slots=True)
class RefusedClaims:
    runtime: Runtime
    settlement: Settlement
    payloads: Payloads
    index: ReadyIndex
    limits: StartLimits
    own_queue: TaskQueue
    """The queue of this worker's pool: other pools have wake-ups of their own."""

    async def answer(self, refused: ClaimRefused, *, named: bool = True) -> bool:
        """Return whether the task needs nothing more for now. Raise `Unavailable`.

        `named` is the task of the worker's own message, which may have to come again.
        """
        task, decision = refused.task, refused.decision
        fields = {"request_id": task.ref.request_id, "trace_id": trace_of(task).trace_id}
        logger.info("task is not ours to run", extra=fields | {"reason": decision.reason})
        match decision:
            case Busy():
                await self.leave_index(task)
                return True
            case Done():
                await self.leave_index(task)
                if named or task.due_at_ms is not None:
                    await self._emit_again(task, fields)
                return True
            case NotYet():
                return not named or await self._send_later(task, decision)
            case LimitFull():
                return await self._wait(task, decision)
            case Exhausted():
                return await self.settlement.give_up(task, exhausted(task, decision))
            case Flagged():
                return await self.settlement.give_up(task, cancelled(decision))

    async def leave_index(self, task: Task) -> None:
        """Remove a key that must not be there; the next who meets it tries again."""
        if task.ready_in is None:
            return
        try:
            await self.runtime.offload(self.index.leave, task)
        except Unavailable as outage:
            fields = {"request_id": task.ref.request_id, "error": str(outage)}
            logger.warning("task stays in the ready index", extra=fields)

    async def _wait(self, task: Task, decision: LimitFull) -> bool:
        """Let the task wait for a place, without a message; false if there may be one now."""
        now_ms = self.runtime.clock.now_ms()
        if task.ready_in is None:
            await self.runtime.offload(self._enter_index, task)
            return False
        return await self.runtime.offload(self.limits.wait, task, decision.name, now_ms=now_ms)

    def _enter_index(self, task: Task) -> None:
        with self.settlement.marks.around(places_of([task])):
            self.index.enter(task, now_ms=self.runtime.clock.now_ms())

    async def _emit_again(self, task: Task, fields: dict[str, str]) -> None:
        missing = await with_retries(
            self.runtime,
            emit_again,
            task,
            payloads=self.payloads,
            emitter=self.settlement.emitter,
        )
        if missing:
            logger.error("event is emitted without its output", extra=fields | {"error": missing})

    async def _send_later(self, task: Task, decision: NotYet) -> bool:
        delay = decision.delay_seconds
        if delay is not None:
            message = TaskMessage.waking(task)
            await with_retries(self.runtime, self.own_queue.send, [message], delay_seconds=delay)
        return True
