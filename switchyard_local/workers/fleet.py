"""The local cloud's workers: the one that `up` starts, and those beside it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from switchyard.ports import QueueDepth
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.errors import CloudError
from switchyard_local.processes.roster import Roster
from switchyard_local.workers.process import ROLE, WorkerProcess, is_worker

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
    _known: dict[str, int | None] = field(default_factory=dict)
    """The processes that were reported, by their roles."""

    @property
    def slots(self) -> int:
        """Return the number of tasks that a worker does at once."""
        return int(self.deployed()["MAX_CONCURRENT_CLAUDE"])

    def present(self) -> list[WorkerProcess]:
        workers = [self.worker(role) for role in self.roster.roles() if is_worker(role)]
        return [self._reported(worker) for worker in workers if worker.running]

    def start(self) -> WorkerProcess:
        """Start another worker; `up` may have started one in the meantime.

        Raise `CloudError` when the cloud was stopped: nothing would stop this worker.
        """
        with self.alone():
            if not self.cloud_runs():
                raise CloudError("The local cloud was stopped.")
            worker = next(filter(self._is_new, map(self.worker, _roles())))
            if not worker.running:
                worker.start(self.deployed())
            return self._reported(worker)

    def depth(self) -> QueueDepth:
        """Return the depth of the task queue. Raise `CloudError`."""
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


def _roles() -> Iterator[str]:
    yield ROLE
    yield from (f"{ROLE}-{number}" for number in count(2))
