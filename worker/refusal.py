"""What a receiver does with a message for a task that it may not run."""

import math
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.claims import Busy, Done, Exhausted, Flagged, NotYet
from switchyard.domain.states import TaskState
from switchyard.domain.task import Outcome, Task
from switchyard.observability import get_logger
from switchyard.ports import Refused
from switchyard.usecases import task_events
from worker.patience import patiently

logger = get_logger("worker")

LONGEST_DELAY_SECONDS: Final = 900  # SQS's limit; what is due later is the sweeper's business
EXHAUSTED: Final = "exhausted"


class Refusals:
    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports

    async def answer(self, refused: Refused) -> bool:
        """Do what the task needs; true when the message may go. Raise `Unavailable`."""
        task, decision = refused.task, refused.decision
        logger.info(
            "task is not ours to run",
            extra={"request_id": task.ref.request_id, "reason": decision.reason},
        )
        match decision:
            case Busy():
                return True
            case Done():
                return await self._tell_again(task)
            case NotYet():
                return await self._send_later(task, decision)
            case Exhausted():
                return await self._give_up(task, _exhausted(task, decision))
            case Flagged():
                outcome = Outcome(state=TaskState.CANCELLED, error=decision.reason)
                return await self._give_up(task, outcome)

    async def _tell_again(self, task: Task) -> bool:
        """The same event with the same id: whoever settled it may have died before telling."""
        payload = await self._ports.offload(self._ports.payloads.read, task.ref)
        fact = task_events.settled(task, output=payload.output)
        await patiently(self._ports, self._ports.emitter.emit, fact)
        return True

    async def _send_later(self, task: Task, decision: NotYet) -> bool:
        wait = None if decision.wait_ms is None else math.ceil(decision.wait_ms / 1000)
        if wait is not None and wait <= LONGEST_DELAY_SECONDS:
            message = TaskMessage.to(task.ref, run=task.run)
            await patiently(self._ports, self._ports.queue.send, [message], delay_seconds=wait)
        return True

    async def _give_up(self, task: Task, outcome: Outcome) -> bool:
        """False when the task changed since it was read: the message will find out how."""
        now_ms = self._ports.clock.now_ms()
        settled = await patiently(
            self._ports, self._ports.leases.give_up, task, outcome, now_ms=now_ms
        )
        if settled is None:
            return False
        fact = task_events.settled(settled, output=None)
        await patiently(self._ports, self._ports.emitter.emit, fact)
        return True


def _exhausted(task: Task, decision: Exhausted) -> Outcome:
    error = f"{decision.reason}; the last worker stopped renewing its lease"
    if task.last_error:
        error += f"; before that: {task.last_error}"
    return Outcome(state=TaskState.FAILED, error=error, error_category=EXHAUSTED)
