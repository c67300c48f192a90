"""The real adapters over simulated tables and a simulated bucket, for those who take jobs in."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.system import SystemIds
from switchyard.bootstrap.job_requests import open_task_limit
from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.states import JobState
from switchyard.testing import ManualClock
from switchyard.testing.registry import MemoryDefinitionStore
from switchyard.testing.transport import MemoryBus, MemoryDispatchQueue
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.submit_job import Submitter
from tests.builders import TENANT, a_definition, an_emitter
from tests.fakes.interruption import Interruption
from tests.fakes.tables import BUCKET, state_table
from tests.simulation.cloud.dynamodb import DynamoDb
from tests.simulation.cloud.s3 import S3


@dataclass
class SmallCloud:
    dynamodb: DynamoDb = field(default_factory=DynamoDb)
    s3: S3 = field(default_factory=S3)
    dispatches: MemoryDispatchQueue = field(default_factory=MemoryDispatchQueue)
    bus: MemoryBus = field(default_factory=MemoryBus)
    definitions: MemoryDefinitionStore = field(default_factory=MemoryDefinitionStore)
    clock: ManualClock = field(default_factory=ManualClock)
    created: Counter[str] = field(default_factory=Counter)
    """How often each item came into being."""

    def __post_init__(self) -> None:
        self.state = state_table(self.dynamodb)
        self.definitions.put(TENANT, "scrape", a_definition())
        self.dynamodb.on_change.append(
            lambda change: self.created.update([" ".join(change.key)] * (change.old is None))
        )


class Process:
    """A function's, with clients of its own."""

    def __init__(self, cloud: SmallCloud, through: Interruption | None = None) -> None:
        def client(service: Any) -> Any:
            return through.of(service) if through else service

        self._cloud = cloud
        self._dispatches = client(cloud.dispatches)
        self._bus = client(cloud.bus)
        self._blobs = S3BlobStore(client(cloud.s3), BUCKET)
        self._state = DynamoDbTable(client(cloud.dynamodb), cloud.state, parallel=OneByOne())
        self._intake = DynamoDbJobIntake(self._state, DynamoDbPayloads(self._state, self._blobs))
        self.jobs = DynamoDbJobStore(self._state)

    def submit(self, request: SubmitJob, kind: KeyKind = KeyKind.PRODUCER) -> JobAccepted:
        submitter = Submitter(
            intake=self._intake,
            jobs=self.jobs,
            definitions=self._cloud.definitions,
            submission_keys=DynamoDbSubmissionKeys(self._state),
            tenants=DynamoDbTenantStore(self._state),
            open_tasks=open_task_limit(self._state, WIDEST_CEILINGS),
            blobs=self._blobs,
            dispatches=self._dispatches,
            emitter=an_emitter(self._bus),
            clock=self._cloud.clock,
            ids=SystemIds(),
        )
        return submitter.submit(TENANT, request, key="mine", kind=kind)

    def expand(self) -> None:
        """Whatever the dispatch queue asks for, as the dispatcher does: it may come twice."""
        expander = Expander(
            intake=self._intake,
            blobs=self._blobs,
            emitter=an_emitter(self._bus),
            clock=self._cloud.clock,
        )
        for ref in list(self._cloud.dispatches.refs):
            assert isinstance(ref, JobRef)
            job = self.jobs.find(ref)
            assert job is not None
            if job.state is JobState.WRITING:
                assert expander.go_on(job, until=self._cloud.clock.monotonic() + 100)


def everywhere(
    happens: Callable[[SmallCloud], object],
) -> Iterator[tuple[SmallCloud, Interruption]]:
    """Crash before and after each request, until one was never reached."""
    for number in count():
        for after in (False, True):
            cloud = SmallCloud()
            interruption = Interruption(number, lambda: happens(cloud), after=after)  # noqa: B023
            yield cloud, interruption
            if not interruption.happened:
                assert number > 3, "there was nothing to interrupt"
                return
