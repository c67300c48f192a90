"""The local cloud's workers: the one that `up` starts, and those beside it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.scheduling.pools import DEFAULT_POOL
from switchyard.ports import QueueDepth
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.errors import CloudError
from switchyard_local.processes.roster import Roster
from switchyard_local.workers.pools import is_role_of, roles_of
from switchyard_local.workers.process import WorkerProcess

GET_QUEUE_ATTRIBUTES: Final = "AmazonSQS.GetQueueAttributes"
_WAITING: Final = "ApproximateNumberOfMessages"
_HIDDEN: Final = "ApproximateNumberOfMessagesNotVisible"


@dataclass(frozen=True, kw_only=True)
class WorkerFleet:
    roster: Roster
    gateway: Gateway
    deployed: Callable[[], Mapping[str, str]]
    """The environment that workers are to have now."""
    worker: Callable[[str], WorkerProcess]
    """Returns the worker process of a role."""
    alone: Callable[[], AbstractContextManager[None]]
    """Enters a block in which no other command starts or stops anything."""
    cloud_runs: Callable[[], bool]
    pool: str = DEFAULT_POOL
    _known: dict[str, int | None] = field(default_factory=dict)
    """The processes that were reported, by their roles."""

    @property
    def slots(self) -> int:
        """Return the number of tasks that a worker does at once."""
        return int(self.deployed()["MAX_CONCURRENT_CLAUDE"])

    def present(self) -> list[WorkerProcess]:
        roles = [role for role in self.roster.roles() if is_role_of(self.pool, role)]
        workers = [self.worker(role) for role in roles]
        return [self._reported(worker) for worker in workers if worker.running]

    def start(self) -> WorkerProcess:
        """Start another worker; `up` may have started one in the meantime.

        Raise `CloudError` when the cloud was stopped: nothing would stop this worker.
        """
        with self.alone():
            if not self.cloud_runs():
                raise CloudError("The local cloud was stopped.")
            worker = next(filter(self._is_new, map(self.worker, roles_of(self.pool))))
            if not worker.running:
                worker.start(self.deployed())
            return self._reported(worker)

    def depth(self) -> QueueDepth:
        """Return the depth of the pool's queue. Raise `CloudError`."""
        asked = {
            "QueueUrl": self.deployed()["SQS_QUEUE_URL"],
            "AttributeNames": [_WAITING, _HIDDEN],
        }
        found = self.gateway.call(GET_QUEUE_ATTRIBUTES, asked)["Attributes"]
        return QueueDepth(waiting=int(found[_WAITING]), hidden=int(found[_HIDDEN]))

    def _is_new(self, worker: WorkerProcess) -> bool:
        return not worker.running or worker.pid != self._known.get(worker.name)

    def _reported(self, worker: WorkerProcess) -> WorkerProcess:
        self._known[worker.name] = worker.pid
        return worker
