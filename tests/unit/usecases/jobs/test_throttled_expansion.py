"""A large job is more than its partition takes at once: it is written over several wake-ups."""

from dataclasses import dataclass

import pytest

from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.pauses import Pauses
from switchyard.adapters.system import SystemIds
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.submit_job import Submitter
from tests.builders import TENANT, a_definition, a_submission, an_emitter
from tests.fakes.dynamodb.busy_partition import BusyPartition
from tests.fakes.harnesses.submitting import a_submitter
from tests.fakes.tables import state_table
from tests.simulation.cloud.dynamodb import DynamoDb

TASKS = 2_000


@dataclass
class Busy:
    """A harness in memory, but for its state table."""

    expander: Expander
    jobs: DynamoDbJobStore
    partition: BusyPartition
    ref: JobRef

    def job(self) -> Job:
        found = self.jobs.find(self.ref)
        assert found is not None
        return found


def a_busy_harness(clock: ManualClock, *, units: int) -> Busy:
    """Return a harness with a large job that was accepted."""
    harness, dynamodb = MemoryHarness(clock), DynamoDb()
    harness.definitions.put(TENANT, "scrape", a_definition())
    partition = BusyPartition(dynamodb, clock.monotonic, units=units)
    pauses = Pauses(clock.sleep, lambda _low, high: high, clock.monotonic)
    table = DynamoDbTable(partition, state_table(dynamodb), pauses=pauses, parallel=OneByOne())
    intake, jobs = (
        DynamoDbJobIntake(table, DynamoDbPayloads(table, harness.blobs)),
        DynamoDbJobStore(table),
    )
    memory = a_submitter(harness, clock=clock, ids=SystemIds())
    submitter = Submitter(**{**vars(memory), "intake": intake, "jobs": jobs})
    accepted = submitter.submit(TENANT, a_submission({f"t{n}": [] for n in range(TASKS)}))
    return Busy(
        expander=Expander(
            intake=intake, blobs=harness.blobs, emitter=an_emitter(harness.bus), clock=clock
        ),
        jobs=jobs,
        partition=partition,
        ref=JobRef(TENANT, accepted.job_id),
    )


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.mark.slow
def test_it_goes_on_with_each_wake_up_where_it_was_throttled(clock: ManualClock) -> None:
    harness = a_busy_harness(clock, units=1_000)
    come_to = [0]
    while not harness.expander.go_on(harness.job(), until=clock.monotonic() + 4):
        come_to.append(harness.job().written)
    assert harness.partition.throttled
    assert len(come_to) > 2
    assert come_to == sorted(set(come_to))
    assert (harness.job().state, len(harness.jobs.picture(harness.ref).visible_tasks)) == (
        JobState.OPEN,
        TASKS,
    )


def test_a_partition_that_takes_nothing_is_an_outage(clock: ManualClock) -> None:
    harness = a_busy_harness(clock, units=100)
    with pytest.raises(Unavailable, match="unwritten"):
        harness.expander.go_on(harness.job(), until=clock.monotonic() + 4)
    assert harness.job().written == 0


def test_a_wake_up_without_any_time_left_still_gets_a_part_written(clock: ManualClock) -> None:
    harness = a_busy_harness(clock, units=1_000)
    assert not harness.expander.go_on(harness.job(), until=clock.monotonic())
    assert harness.job().written
