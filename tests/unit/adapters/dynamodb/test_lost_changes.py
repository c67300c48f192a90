"""Answers to cancellations and redrives that get lost on the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.domain.errors import AnswerLost
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Task
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.clouds import simulated_cloud
from tests.fakes.dynamodb.lossy_line import Fate, Line, and_then, answer_lost, not_sent, repeated
from tests.fakes.tables import state_table

ROOT = JOB.task("scrape-store")
UNSETTLED = [TaskState.WAITING, TaskState.READY, TaskState.QUEUED, TaskState.PROCESSING]
KEY = "task/redrives/1.json"


@dataclass
class Place:
    line: Line
    cancelling: DynamoDbCancelling
    redriving: DynamoDbRedriving
    intake: DynamoDbJobIntake
    graph: DynamoDbTaskGraph
    jobs: DynamoDbJobStore
    others: DynamoDbTaskLeases
    """Somebody else's, whose answers arrive."""

    def put(self, state: TaskState, job_state: JobState = JobState.OPEN) -> Task:
        plan = a_plan()
        task = a_task(state=state, fence=4, attempt=1, owner="w", lease_until_ms=NOW_MS)
        others = [other for other in plan.tasks if other.ref != ROOT]
        written = replace(plan, job=replace(plan.job, state=job_state), tasks=(*others, task))
        self.intake.write(written)
        self.intake.write_part(written)
        return self.task()

    def task(self) -> Task:
        task = self.graph.find(ROOT)
        assert task is not None
        return task

    def job(self) -> Job:
        job = self.jobs.find(JOB)
        assert job is not None
        return job


@pytest.fixture
def place() -> Iterator[Place]:
    with simulated_cloud() as cloud:
        client = cloud.client("dynamodb")
        line = Line(client)
        state_table(client, "state")
        table, undisturbed = DynamoDbTable(line, "state"), DynamoDbTable(client, "state")
        payloads = DynamoDbPayloads(undisturbed, MemoryBlobStore())
        yield Place(
            line,
            DynamoDbCancelling(table),
            DynamoDbRedriving(table, payloads),
            DynamoDbJobIntake(undisturbed, payloads),
            DynamoDbTaskGraph(undisturbed),
            DynamoDbJobStore(undisturbed),
            DynamoDbTaskLeases(undisturbed),
        )


def is_cancelled(task: Task) -> bool:
    return task.cancel_requested or task.state is TaskState.CANCELLED


@pytest.mark.parametrize("state", UNSETTLED)
@pytest.mark.parametrize("fate", [answer_lost, repeated])
def test_a_cancellation_that_was_done_is_answered_as_done(
    place: Place, state: TaskState, fate: Fate
) -> None:
    read = place.put(state)
    place.line.write_fate = fate
    answer = place.cancelling.cancel(read, now_ms=NOW_MS)
    assert answer == place.task()
    assert is_cancelled(place.task())
    assert place.task().fence - read.fence == int(place.task().state is TaskState.CANCELLED)


@pytest.mark.parametrize("state", UNSETTLED)
def test_a_cancellation_that_was_not_done_has_an_unknown_outcome(
    place: Place, state: TaskState
) -> None:
    read = place.put(state)
    place.line.write_fate = not_sent
    with pytest.raises(AnswerLost):
        place.cancelling.cancel(read, now_ms=NOW_MS)
    assert place.task() == read


@pytest.mark.parametrize("fate", [answer_lost, not_sent])
def test_a_task_that_went_on_meanwhile_has_to_be_looked_at_again(place: Place, fate: Fate) -> None:
    read = place.put(TaskState.READY)

    def claim_first() -> None:
        place.others.claim(ROOT, owner="other", now_ms=NOW_MS, lease_ms=1000)

    place.line.write_fate = and_then(fate, claim_first)
    answer = place.cancelling.cancel(read, now_ms=NOW_MS)
    done = fate is answer_lost  # what is settled is not claimed any more
    assert (answer is not None) == done
    assert place.task().state is (TaskState.CANCELLED if done else TaskState.PROCESSING)


@pytest.mark.parametrize("fate", [answer_lost, repeated])
def test_a_redrive_that_began_is_known_by_its_plan(place: Place, fate: Fate) -> None:
    place.put(TaskState.FAILED, JobState.FAILED)
    place.line.write_fate = fate
    assert place.redriving.begin(place.job(), key=KEY, now_ms=NOW_MS)
    assert (place.job().state, place.job().redrive_key) == (JobState.REDRIVING, KEY)


def test_a_redrive_that_did_not_begin_has_an_unknown_outcome(place: Place) -> None:
    place.put(TaskState.FAILED, JobState.FAILED)
    before = place.job()
    place.line.write_fate = not_sent
    with pytest.raises(AnswerLost):
        place.redriving.begin(before, key=KEY, now_ms=NOW_MS)
    assert place.job() == before
