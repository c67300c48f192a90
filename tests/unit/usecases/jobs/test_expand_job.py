"""A large job is written from its document, in parts, and opened."""

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.events import JobCreated
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.errors import MissingBlob, NewerVersion, UnreadableDocument
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs import expand_job
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.read_jobs import read_job
from tests.builders import TENANT, a_definition, a_submission
from tests.fakes.harnesses.submitting import a_submitter, an_expander

TASKS = 1_500
EDGES: dict[str, list[str]] = {"first": [], **{f"t{n}": ["first"] for n in range(TASKS - 1)}}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def harness(clock: ManualClock) -> MemoryHarness:
    harness = MemoryHarness(clock)
    harness.definitions.put(TENANT, "scrape", a_definition())
    return harness


@pytest.fixture
def expander(harness: MemoryHarness, clock: ManualClock) -> Expander:
    return an_expander(harness, clock=clock)


def accepted(harness: MemoryHarness, clock: ManualClock, request: SubmitJob) -> Job:
    answer = a_submitter(harness, clock=clock, ids=SystemIds()).submit(TENANT, request)
    return found(harness, JobRef(TENANT, answer.job_id))


def found(harness: MemoryHarness, ref: JobRef) -> Job:
    job = harness.jobs.find(ref)
    assert job is not None
    return job


@pytest.fixture
def job(harness: MemoryHarness, clock: ManualClock) -> Job:
    job = accepted(harness, clock, a_submission(EDGES, tags={"team": "web"}))
    clock.advance(30)
    return job


def test_a_large_job_is_written_opened_and_emitted(
    harness: MemoryHarness, clock: ManualClock, expander: Expander, job: Job
) -> None:
    assert expander.go_on(job, until=clock.monotonic() + 20)
    view = read_job(TENANT, job.ref.job_id, jobs=harness.jobs)
    assert (view.status, view.total_tasks, view.progress) == (
        "processing",
        TASKS,
        {"waiting": TASKS},
    )
    assert {t.task_id: list(t.depends_on) for t in view.tasks} == EDGES
    assert view.tags == {"team": "web"}
    start = harness.graph.find(job.ref.task(START))
    assert start is not None
    assert (start.state, start.settled_at_ms) == (TaskState.COMPLETED, clock.now_ms())
    (emitted,) = harness.bus.events
    assert isinstance(emitted.properties, JobCreated)
    assert (emitted.timestamp, len(emitted.properties.tasks)) == (job.created_at_ms, TASKS)


def test_the_definitions_are_those_of_the_submission(
    harness: MemoryHarness, clock: ManualClock, expander: Expander, job: Job
) -> None:
    harness.definitions.put(TENANT, "scrape", a_definition(description="A newer one."))
    expander.go_on(job, until=clock.monotonic() + 20)
    task = harness.graph.find(job.ref.task("first"))
    assert task is not None
    assert task.definition_version == 1


def test_when_time_is_over_it_is_remembered_how_far_it_came(
    harness: MemoryHarness, clock: ManualClock, expander: Expander, job: Job
) -> None:
    assert not expander.go_on(job, until=clock.monotonic())
    halfway = found(harness, job.ref)
    assert (halfway.state, halfway.written) == (JobState.WRITING, expand_job.ITEMS_AT_ONCE)
    assert harness.bus.events == []
    rounds = 1
    while not expander.go_on(found(harness, job.ref), until=clock.monotonic()):
        rounds += 1
    assert rounds == 3 * TASKS // expand_job.ITEMS_AT_ONCE
    assert found(harness, job.ref).state is JobState.OPEN
    assert harness.graph.find(job.ref.task(END)) is not None


def test_expanding_an_open_job_only_emits_its_event_again(
    harness: MemoryHarness, clock: ManualClock, expander: Expander, job: Job
) -> None:
    expander.go_on(job, until=clock.monotonic() + 20)
    opened, tasks = found(harness, job.ref), dict(harness.state.tasks)
    clock.advance(5)
    assert expander.go_on(job, until=clock.monotonic() + 20)
    assert (found(harness, job.ref), harness.state.tasks) == (opened, tasks)
    assert len({event.event_id for event in harness.bus.events}) == 1


def test_a_job_without_its_document_stays_as_it_is_and_goes_on_once_it_is_there(
    harness: MemoryHarness, clock: ManualClock, expander: Expander, job: Job
) -> None:
    assert job.document_key is not None
    content = harness.blobs.get(job.document_key)
    harness.blobs.delete(job.document_key)
    with pytest.raises(MissingBlob):
        expander.go_on(job, until=clock.monotonic() + 20)
    harness.blobs.put(job.document_key, b'{"schema": 0}', content_type="application/json")
    with pytest.raises(UnreadableDocument, match="schema"):
        expander.go_on(job, until=clock.monotonic() + 20)
    harness.blobs.put(job.document_key, b'{"schema": 3}', content_type="application/json")
    with pytest.raises(NewerVersion, match="schema 3"):
        expander.go_on(job, until=clock.monotonic() + 20)
    assert found(harness, job.ref) == job
    harness.blobs.put(job.document_key, content, content_type="application/json")
    assert expander.go_on(job, until=clock.monotonic() + 20)


def test_a_job_of_a_thousand_tasks_is_written_at_once(
    harness: MemoryHarness, clock: ManualClock
) -> None:
    edges: dict[str, list[str]] = {f"t{n}": [] for n in range(1_000)}
    assert accepted(harness, clock, a_submission(edges)).state is JobState.OPEN
    assert not harness.dispatches.refs
