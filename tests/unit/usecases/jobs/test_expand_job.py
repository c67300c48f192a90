"""A large job is written from its document, in parts, and opened."""

import pytest

from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.system import SystemIds
from switchyard.contracts.events import JobCreated
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.errors import MissingBlob, NewerVersion, UnreadableDocument
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.jobs import expand_job
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.read_jobs import read_job
from tests.builders import TENANT, a_definition, a_submission
from tests.fakes.submitting import a_submitter, an_expander

TASKS = 1_500
EDGES: dict[str, list[str]] = {"first": [], **{f"t{n}": ["first"] for n in range(TASKS - 1)}}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def yard(clock: ManualClock) -> MemoryYard:
    yard = MemoryYard(clock)
    yard.definitions.put(TENANT, "scrape", a_definition())
    return yard


@pytest.fixture
def expander(yard: MemoryYard, clock: ManualClock) -> Expander:
    return an_expander(yard, clock=clock)


def accepted(yard: MemoryYard, clock: ManualClock, request: SubmitJob) -> Job:
    answer = a_submitter(yard, clock=clock, ids=SystemIds()).submit(TENANT, request)
    return found(yard, JobRef(TENANT, answer.job_id))


def found(yard: MemoryYard, ref: JobRef) -> Job:
    job = yard.jobs.find(ref)
    assert job is not None
    return job


@pytest.fixture
def job(yard: MemoryYard, clock: ManualClock) -> Job:
    job = accepted(yard, clock, a_submission(EDGES, tags={"team": "web"}))
    clock.advance(30)
    return job


def test_a_large_job_is_written_opened_and_told(
    yard: MemoryYard, clock: ManualClock, expander: Expander, job: Job
) -> None:
    assert expander.go_on(job, until=clock.monotonic() + 20)
    view = read_job(TENANT, job.ref.job_id, jobs=yard.jobs)
    assert (view.status, view.total_tasks, view.progress) == (
        "processing",
        TASKS,
        {"waiting": TASKS},
    )
    assert {t.task_id: list(t.depends_on) for t in view.tasks} == EDGES
    assert view.tags == {"team": "web"}
    start = yard.graph.find(job.ref.task(START))
    assert start is not None
    assert (start.state, start.settled_at_ms) == (TaskState.COMPLETED, clock.now_ms())
    (told,) = yard.bus.events
    assert isinstance(told.properties, JobCreated)
    assert (told.timestamp, len(told.properties.tasks)) == (job.created_at_ms, TASKS)


def test_the_definitions_are_those_of_the_submission(
    yard: MemoryYard, clock: ManualClock, expander: Expander, job: Job
) -> None:
    yard.definitions.put(TENANT, "scrape", a_definition(description="A newer one."))
    expander.go_on(job, until=clock.monotonic() + 20)
    task = yard.graph.find(job.ref.task("first"))
    assert task is not None
    assert task.definition_version == 1


def test_when_time_is_over_it_is_remembered_how_far_it_came(
    yard: MemoryYard, clock: ManualClock, expander: Expander, job: Job
) -> None:
    assert not expander.go_on(job, until=clock.monotonic())
    halfway = found(yard, job.ref)
    assert (halfway.state, halfway.written) == (JobState.WRITING, expand_job.ITEMS_AT_ONCE)
    assert yard.bus.events == []
    rounds = 1
    while not expander.go_on(found(yard, job.ref), until=clock.monotonic()):
        rounds += 1
    assert rounds == 3 * TASKS // expand_job.ITEMS_AT_ONCE
    assert found(yard, job.ref).state is JobState.OPEN
    assert yard.graph.find(job.ref.task(END)) is not None


def test_who_comes_when_it_is_open_only_tells_it_again(
    yard: MemoryYard, clock: ManualClock, expander: Expander, job: Job
) -> None:
    expander.go_on(job, until=clock.monotonic() + 20)
    opened, tasks = found(yard, job.ref), dict(yard.state.tasks)
    clock.advance(5)
    assert expander.go_on(job, until=clock.monotonic() + 20)
    assert (found(yard, job.ref), yard.state.tasks) == (opened, tasks)
    assert len({event.event_id for event in yard.bus.events}) == 1


def test_a_job_without_its_document_stays_as_it_is_and_goes_on_once_it_is_there(
    yard: MemoryYard, clock: ManualClock, expander: Expander, job: Job
) -> None:
    assert job.document_key is not None
    content = yard.blobs.get(job.document_key)
    yard.blobs.delete(job.document_key)
    with pytest.raises(MissingBlob):
        expander.go_on(job, until=clock.monotonic() + 20)
    yard.blobs.put(job.document_key, b'{"schema": 0}', content_type="application/json")
    with pytest.raises(UnreadableDocument, match="schema"):
        expander.go_on(job, until=clock.monotonic() + 20)
    yard.blobs.put(job.document_key, b'{"schema": 2}', content_type="application/json")
    with pytest.raises(NewerVersion, match="schema 2"):
        expander.go_on(job, until=clock.monotonic() + 20)
    assert found(yard, job.ref) == job
    yard.blobs.put(job.document_key, content, content_type="application/json")
    assert expander.go_on(job, until=clock.monotonic() + 20)


def test_a_job_of_a_thousand_tasks_is_written_at_once(yard: MemoryYard, clock: ManualClock) -> None:
    edges: dict[str, list[str]] = {f"t{n}": [] for n in range(1_000)}
    assert accepted(yard, clock, a_submission(edges)).state is JobState.OPEN
    assert not yard.dispatches.refs
