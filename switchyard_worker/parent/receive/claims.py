"""Claims tasks, by their names or by the message that names them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from switchyard.contracts.messages import ForeignTask, TaskMessage, parse_message
from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.ports import Claimed, ClaimRefused, Received, Seen, TaskLeases
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard_worker.parent.coroutines import Runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    runtime: Runtime
    leases: TaskLeases
    adopter: Adopter
    worker_id: str
    tenant_id: str | None
    """The tenant of other producers' tasks; `None` if none are adopted."""
    lease_ms: int
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def read(self, received: Received) -> TaskMessage | ForeignTask:
        """Parse a message. Raise `Malformed`, or `UnknownTask` for one that no worker runs."""
        message = parse_message(received, tenant=self.tenant_id)
        if message.ref.hidden:
            raise UnknownTask(message.ref.request_id)
        return message

    async def look(self, message: TaskMessage | ForeignTask) -> Seen:
        """Read the task of a message consistently; adopt one of another producer first.

        Raise `UnknownTask` or `UnknownDefinition`.
        """
        seen = await self._look_at(message.ref)
        if seen is None and isinstance(message, ForeignTask):
            await self.runtime.offload(self.adopter.adopt, message)
            seen = await self._look_at(message.ref)
        if seen is None:
            raise UnknownTask(message.ref.request_id)
        return seen

    async def claim_named(self, message: TaskMessage | ForeignTask) -> Claimed | ClaimRefused:
        """Claim the task of a message; adopt one of another producer first.

        Raise `UnknownTask` or `UnknownDefinition`.
        """
        answer = await self.claim(message.ref)
        if answer is None and isinstance(message, ForeignTask):
            await self.runtime.offload(self.adopter.adopt, message)
            answer = await self.claim(message.ref)
        if answer is None:
            raise UnknownTask(message.ref.request_id)
        return answer

    async def claim(
        self, ref: TaskRef, *, limits: Sequence[str] = ()
    ) -> Claimed | ClaimRefused | None:
        """Claim a task, whose limits are believed to be these; `None` if there is no such task."""
        return await self.runtime.offload(
            self.leases.claim,
            ref,
            owner=f"{self.worker_id}/{next(self._numbers)}",
            now_ms=self.runtime.clock.now_ms(),
            lease_ms=self.lease_ms,
            limits=limits,
        )

    async def _look_at(self, ref: TaskRef) -> Seen | None:
        return (await self.runtime.offload(self.leases.look_at, [ref])).get(ref)
