"""What a receiver does with a message for a task that it may not run."""

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.measuring.tracing import trace_of
from switchyard.domain.tasks.claims import Busy, Done, Exhausted, Flagged, NotYet
from switchyard.domain.tasks.giving_up import cancelled, exhausted
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.observability import get_logger
from switchyard.ports import Refused
from switchyard.usecases.events import task_events
from switchyard.usecases.events.tell_again import tell_again
from worker.patience import patiently

logger = get_logger("worker")


class Refusals:
    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports

    async def answer(self, refused: Refused) -> bool:
        """Do what the task needs; true when the message may go. Raise `Unavailable`."""
        task, decision = refused.task, refused.decision
        logger.info(
            "task is not ours to run",
            extra={**_fields(task), "reason": decision.reason},
        )
        match decision:
            case Busy():
                return True
            case Done():
                return await self._tell_again(task)
            case NotYet():
                return await self._send_later(task, decision)
            case Exhausted():
                return await give_up(self._ports, task, exhausted(task, decision))
            case Flagged():
                return await give_up(self._ports, task, cancelled(decision))

    async def _tell_again(self, task: Task) -> bool:
        payloads, emitter = self._ports.payloads, self._ports.emitter
        missing = await patiently(self._ports, tell_again, task, payloads=payloads, emitter=emitter)
        if missing:
            fields = {**_fields(task), "error": missing}
            logger.error("task is told without its output", extra=fields)
        return True

    async def _send_later(self, task: Task, decision: NotYet) -> bool:
        delay = decision.delay_seconds
        if delay is not None:
            message = TaskMessage.waking(task)
            await patiently(self._ports, self._ports.queue.send, [message], delay_seconds=delay)
        return True


async def give_up(ports: WorkerPorts, task: Task, outcome: Outcome) -> bool:
    """False when the task changed since it was read: the message will find out how."""
    now_ms = ports.clock.now_ms()
    settled = await patiently(ports, ports.leases.give_up, task, outcome, now_ms=now_ms)
    if settled is None:
        return False
    await patiently(ports, ports.emitter.emit, task_events.settled(settled, output=None))
    return True


def _fields(task: Task) -> dict[str, str]:
    return {"request_id": task.ref.request_id, "trace_id": trace_of(task).trace_id}
