"""A trigger is changed between two tries at one event: one job comes out, of one template."""

import contextlib

import pytest

from switchyard.adapters.dynamodb import many_writes
from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.domain.errors import Conflict, Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.states import JobState
from switchyard.usecases.jobs import submit_job
from tests.builders import TENANT, a_submission
from tests.fakes.interruption import Death, Interruption, death
from tests.fakes.small_cloud import Process, SmallCloud, everywhere

BEFORE = a_submission({"a": [], "b": ["a"], "c": ["b"], "d": ["a", "c"]})
BETWEEN = a_submission({"b": [], "a": ["b"], "e": ["b"], "f": ["a"]}, name="between")
AFTER = a_submission({"a": [], "b": [], "other": ["a", "b"], "c": ["other"]}, name="after")


@pytest.fixture(params=["small", "large"], autouse=True)
def of_any_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_writes, "WRITES_PER_TRANSACTION", 3)
    if request.param == "large":
        monkeypatch.setattr(submit_job, "MAX_INLINE_TASKS", 3)


def start(cloud: SmallCloud, request: SubmitJob, through: Interruption | None = None) -> None:
    """Start as the queue does: what is refused for now comes back, and what died as well."""
    process = Process(cloud, through)
    with contextlib.suppress(Death, Conflict, Unavailable):
        process.submit(request, KeyKind.TRIGGER)


def the_only_job(cloud: SmallCloud) -> str:
    """Open, whole, of one template; whatever else was begun is not open and never will be."""
    accepted: JobAccepted = Process(cloud).submit(AFTER, KeyKind.TRIGGER)
    Process(cloud).expand()
    items = [key.split() for key in cloud.created]
    begun = [partition.rpartition("#")[2] for partition, kind in items if kind == "JOB"]
    jobs = Process(cloud).jobs
    pictures = [jobs.picture(JobRef(TENANT, job_id)) for job_id in begun]
    opened = [picture for picture in pictures if picture.job.state is not JobState.WRITING]
    assert [picture.job.ref.job_id for picture in opened] == [accepted.job_id]
    (meant,) = (each for each in (BEFORE, BETWEEN, AFTER) if each.name == opened[0].job.name)
    parents = {task.task_id: tuple(task.depends_on) for task in meant.tasks}
    assert {task.ref.task_id for task in opened[0].visible_tasks} == parents.keys()
    assert {t: found for t, found in opened[0].depends_on.items() if found} == {
        t: needed for t, needed in parents.items() if needed
    }
    assert {event.entity_id for event in cloud.bus.events} <= {accepted.job_id}
    return accepted.job_id


def test_who_dies_halfway_leaves_nothing_in_the_job_of_the_changed_trigger() -> None:
    for cloud, interruption in everywhere(death):
        start(cloud, BEFORE, interruption)
        cloud.clock.advance(60)
        job_id = the_only_job(cloud)
        start(cloud, BEFORE)
        assert the_only_job(cloud) == job_id


def test_who_is_overtaken_by_a_try_with_the_changed_trigger_opens_no_second_job() -> None:
    for cloud, interruption in everywhere(lambda cloud: start(cloud, AFTER)):
        start(cloud, BEFORE, interruption)
        the_only_job(cloud)


def test_who_dies_while_it_takes_over_is_gone_on_with() -> None:
    for cloud, interruption in everywhere(death):
        start(cloud, BEFORE, Interruption(3, death, after=True))
        start(cloud, AFTER, interruption)
        the_only_job(cloud)


def test_who_takes_over_while_the_first_try_is_gone_on_with_opens_no_second_job() -> None:
    for cloud, interruption in everywhere(lambda cloud: start(cloud, BEFORE)):
        start(cloud, BEFORE, Interruption(3, death, after=True))
        start(cloud, AFTER, interruption)
        the_only_job(cloud)


def test_who_takes_over_at_once_with_another_that_dies_does_not_write_into_its_job() -> None:
    def overtake(cloud: SmallCloud) -> None:
        start(cloud, BETWEEN, Interruption(8, death, after=True))  # it has begun its job

    for cloud, interruption in everywhere(overtake):
        start(cloud, BEFORE, Interruption(3, death, after=True))
        start(cloud, AFTER, interruption)
        the_only_job(cloud)
