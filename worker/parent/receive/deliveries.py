"""One delivered message: deleted in one place and last, when its outcome is stored and told."""

import contextlib
import itertools
from typing import Final

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import ForeignTask, Malformed, TaskMessage, parse_message
from switchyard.contracts.quarantine import LEFT_TO_NEWER, PUT_ASIDE
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
from switchyard.domain.measuring.tracing import trace_of
from switchyard.domain.tasks.claims import Busy, Done, Exhausted, Flagged, NotYet
from switchyard.domain.tasks.giving_up import cancelled, exhausted
from switchyard.domain.tasks.task import Task
from switchyard.observability import get_logger
from switchyard.ports import Claimed, Received, Refused
from switchyard.usecases.events.tell_again import tell_again
from worker.parent.attempts.attempt import Attempts
from worker.parent.attempts.verdict import Cancelled, Verdict, failed_by
from worker.parent.coroutines import patiently
from worker.parent.health.machine import Machine, machine_trouble
from worker.parent.receive.deletions import Deletions, Screening
from worker.parent.receive.lease import Keepalive, LeaseTiming
from worker.parent.receive.rollout import Protection
from worker.parent.receive.settlement import Settling, give_up

logger = get_logger("worker")

NEWER_PAUSE_SECONDS: Final = 60
"""Until a message of a newer version is received again, by a newer worker if one is there."""


class Deliveries:
    def __init__(
        self,
        ports: WorkerPorts,
        timing: LeaseTiming,
        attempts: Attempts,
        protection: Protection,
        deletions: Deletions,
        machine: Machine,
        screening: Screening,
    ) -> None:
        self._ports = ports
        self._timing = timing
        self._attempts = attempts
        self._protection = protection
        self._deletions = deletions
        self._machine = machine
        self._screening = screening
        self._refusals = Refusals(ports)
        self._settling = Settling(ports)
        self._claim_numbers = itertools.count(1)

    async def handle(self, received: Received) -> None:
        """A message that is not deleted comes again, or ends among the dead letters."""
        try:
            if await self._answer(received):
                self._deletions.add(received)
        except NewerVersion as newer:
            await self._leave_to_newer(received, newer)
        except LeaseLost as lost:
            logger.warning("lease is lost", extra=_fields(received, lost))
        except Unavailable as outage:
            logger.warning("message is left to come again", extra=_fields(received, outage))
        except Rejected as problem:  # its own trouble, not the worker's: the dead letters show it
            logger.error("message cannot be answered", extra=_fields(received, problem))

    async def _leave_to_newer(self, received: Received, newer: NewerVersion) -> None:
        """Give it back for a while. The queue counts how often, and then parks it among the dead
        letters, where the dead-letter processor reads it.
        """
        logger.warning(LEFT_TO_NEWER, extra=_fields(received, newer))
        try:
            inbox = self._ports.inbox
            await self._ports.offload(inbox.extend, received, seconds=NEWER_PAUSE_SECONDS)
        except Unavailable as outage:
            logger.warning("message comes back late", extra=_fields(received, outage))

    async def _answer(self, received: Received) -> bool:
        taken_at = self._ports.clock.monotonic()
        try:
            message = parse_message(received, tenant=self._ports.tenant_id)
            answer = await self._claim(message)
        except (Malformed, UnknownTask, UnknownDefinition) as problem:
            await self._put_aside(received, problem)
            return True
        match answer:
            case Claimed():
                keepalive = Keepalive(
                    self._ports,
                    self._timing,
                    lease=answer.lease,
                    message=received,
                    taken_at=taken_at,
                )
                with self._protection.holding(answer.lease):
                    await self._attempt(answer, keepalive, received)
                return True
            case Refused():
                if isinstance(answer.decision, Done):
                    self._screening.note_refused()
                return await self._refusals.answer(answer)

    async def _attempt(self, claimed: Claimed, keepalive: Keepalive, received: Received) -> None:
        """Also a bug of ours is settled, as an attempt that failed, and then raised."""
        try:
            verdict = await self._verdict(claimed, keepalive)
        except MustNotStart:
            self._screening.note_refused()
            verdict = Cancelled(duration_ms=0)
        except SwitchyardError:
            raise
        except Exception as bug:
            with contextlib.suppress(Unavailable):  # then the message comes again
                await self._settling.settle(claimed, failed_by(bug, self._attempts.redaction))
                self._deletions.add(received)
            raise
        await self._settling.settle(claimed, verdict)

    async def _verdict(self, claimed: Claimed, keepalive: Keepalive) -> Verdict:
        try:
            verdict = await self._attempts.run(claimed, keepalive)
        except Exception as error:
            trouble = machine_trouble(error)
            if trouble is None:
                raise
            logger.error("machine is in trouble", extra={"error": trouble})
            return self._machine.give_back(claimed.task, trouble)
        return await self._machine.judge(claimed.task, verdict)

    async def _claim(self, message: TaskMessage | ForeignTask) -> Claimed | Refused:
        """Adopt what is not ours yet. Raise `UnknownTask` or `UnknownDefinition`."""
        answer = await self._try_to_claim(message.ref)
        if answer is None and isinstance(message, ForeignTask):
            await self._ports.offload(self._ports.adopter.adopt, message)
            answer = await self._try_to_claim(message.ref)
        if answer is None:
            raise UnknownTask(message.ref.request_id)
        return answer

    async def _try_to_claim(self, ref: TaskRef) -> Claimed | Refused | None:
        if ref.hidden:  # no worker is ever woken for these
            return None
        return await self._ports.offload(
            self._ports.leases.claim,
            ref,
            owner=f"{self._ports.worker_id}/{next(self._claim_numbers)}",
            now_ms=self._ports.clock.now_ms(),
            lease_ms=self._timing.lease_ms,
        )

    async def _put_aside(self, received: Received, problem: Exception) -> None:
        """Trying again cannot help. Raise `Unavailable`: then it has to come back."""
        kept = await self._ports.offload(self._ports.quarantine.keep, received, str(problem))
        fields = {"message_id": kept.message_id, "reason": kept.reason, "key": kept.key}
        logger.error(PUT_ASIDE, extra=fields)


def _fields(received: Received, problem: Exception) -> dict[str, str]:
    return {"message_id": received.message_id, "error": str(problem)}


class Refusals:
    def __init__(self, ports: WorkerPorts) -> None:
        self._ports = ports

    async def answer(self, refused: Refused) -> bool:
        """Do what the task needs; true when the message may go. Raise `Unavailable`."""
        task, decision = refused.task, refused.decision
        logger.info(
            "task is not ours to run",
            extra={**_task_fields(task), "reason": decision.reason},
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
            fields = {**_task_fields(task), "error": missing}
            logger.error("task is told without its output", extra=fields)
        return True

    async def _send_later(self, task: Task, decision: NotYet) -> bool:
        delay = decision.delay_seconds
        if delay is not None:
            message = TaskMessage.waking(task)
            await patiently(self._ports, self._ports.queue.send, [message], delay_seconds=delay)
        return True


def _task_fields(task: Task) -> dict[str, str]:
    return {"request_id": task.ref.request_id, "trace_id": trace_of(task).trace_id}
