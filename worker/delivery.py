"""One delivered message: deleted in one place and last, when its outcome is stored and told."""

import itertools

from switchyard.bootstrap import WorkerPorts
from switchyard.contracts.messages import Malformed, TaskMessage, parse_task_message
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.observability import get_logger
from switchyard.ports import Claimed, Received, Refused
from worker.attempt import Attempts
from worker.keepalive import Keepalive
from worker.lease_timing import LeaseTiming
from worker.protection import Protection
from worker.refusal import Refusals
from worker.settling import Settling

logger = get_logger("worker")


class Deliveries:
    def __init__(
        self,
        ports: WorkerPorts,
        timing: LeaseTiming,
        attempts: Attempts,
        protection: Protection,
    ) -> None:
        self._ports = ports
        self._timing = timing
        self._attempts = attempts
        self._protection = protection
        self._refusals = Refusals(ports)
        self._settling = Settling(ports)
        self._claim_numbers = itertools.count(1)

    async def handle(self, received: Received) -> None:
        """A message that is not deleted comes again, or ends among the dead letters."""
        try:
            if await self._answer(received):
                await self._ports.offload(self._ports.inbox.delete, received)
        except LeaseLost as lost:
            logger.warning("lease is lost", extra=_fields(received, lost))
        except Unavailable as outage:
            logger.warning("message is left to come again", extra=_fields(received, outage))

    async def _answer(self, received: Received) -> bool:
        try:
            message = parse_task_message(received.body)
        except Malformed as problem:
            logger.error("message is malformed", extra=_fields(received, problem))
            return False
        return await self._wake(message, received)

    async def _wake(self, message: TaskMessage, received: Received) -> bool:
        taken_at = self._ports.clock.monotonic()
        answer = await self._claim(message)
        match answer:
            case Claimed():
                keepalive = Keepalive(
                    self._ports,
                    self._timing,
                    lease=answer.lease,
                    message=received,
                    taken_at=taken_at,
                )
                with self._protection.holding_a_task():
                    verdict = await self._attempts.run(answer, keepalive)
                    await self._settling.settle(answer, verdict)
                return True
            case Refused():
                return await self._refusals.answer(answer)
            case None:
                logger.error("task is unknown", extra={"request_id": message.request_id})
                return False

    async def _claim(self, message: TaskMessage) -> Claimed | Refused | None:
        if message.ref.hidden:  # no worker is ever woken for these
            return None
        return await self._ports.offload(
            self._ports.leases.claim,
            message.ref,
            owner=f"{self._ports.worker_id}/{next(self._claim_numbers)}",
            now_ms=self._ports.clock.now_ms(),
            lease_ms=self._timing.lease_ms,
        )


def _fields(received: Received, problem: Exception) -> dict[str, str]:
    return {"message_id": received.message_id, "error": str(problem)}
