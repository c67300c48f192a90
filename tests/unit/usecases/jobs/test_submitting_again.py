"""Under an idempotency key: the same body means the same job, another one is refused."""

from collections.abc import Callable

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.domain.errors import InvalidJob, KeyReused, Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.states import JobState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs import submit_job
from tests.builders import TENANT, a_definition, a_submission
from tests.fakes.harnesses.submitting import a_submitter, an_expander

DAY_SECONDS = 24 * 3600

Submit = Callable[..., JobAccepted]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def harness(clock: ManualClock) -> MemoryHarness:
    harness = MemoryHarness(clock)
    harness.definitions.put(TENANT, "scrape", a_definition())
    return harness


@pytest.fixture
def submit(harness: MemoryHarness, clock: ManualClock) -> Submit:
    def submit(
        request: SubmitJob | None = None, *, key: str | None = "mine", tenant: str = TENANT
    ) -> JobAccepted:
        submitter = a_submitter(harness, clock=clock, ids=SystemIds())
        return submitter.submit(tenant, request or a_submission(), key=key)

    return submit


@pytest.fixture
def every_job_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_job, "MAX_INLINE_TASKS", 0)


def again(first: JobAccepted) -> JobAccepted:
    """Return the answer to the same request, which says that it is not the first."""
    assert not first.repeated
    return first.model_copy(update={"repeated": True})


def test_the_same_answer_is_given_and_nothing_is_written(
    harness: MemoryHarness, clock: ManualClock, submit: Submit
) -> None:
    first = submit()
    stored, emitted = dict(harness.state.jobs), list(harness.bus.events)
    clock.advance(DAY_SECONDS - 1)
    assert submit() == again(first)
    assert (harness.state.jobs, harness.bus.events) == (stored, emitted)


def test_a_settled_job_is_answered_as_it_was_accepted(
    harness: MemoryHarness, submit: Submit
) -> None:
    first = submit()
    job = harness.jobs.find(JobRef(TENANT, first.job_id))
    assert job is not None
    harness.jobs.settle(job, JobState.FAILED, now_ms=1)
    assert submit() == again(first)


def test_a_definition_that_was_deleted_since_changes_nothing(
    harness: MemoryHarness, clock: ManualClock, submit: Submit
) -> None:
    first = submit()
    harness.definitions.delete(TENANT, "scrape", now_ms=clock.now_ms())
    assert submit() == again(first)
    with pytest.raises(KeyReused):
        submit(a_submission(name="another"))


def test_a_continued_submission_uses_the_definitions_of_the_first(
    harness: MemoryHarness, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_order(*_args: object, **_facts: object) -> None:
        raise Unavailable("the first try dies here")

    with monkeypatch.context() as broken:
        broken.setattr(harness.intake, "write_part", out_of_order)
        with pytest.raises(Unavailable):
            submit()
    harness.definitions.put(TENANT, "scrape", a_definition(description="A newer one."))
    ref = JobRef(TENANT, submit().job_id)
    versions = {task.definition_version for task in harness.jobs.picture(ref).visible_tasks}
    assert versions == {1}


def test_without_a_key_every_submission_is_a_job(harness: MemoryHarness, submit: Submit) -> None:
    assert submit(key=None).job_id != submit(key=None).job_id
    assert len(harness.state.jobs) == 2


def test_after_a_day_the_key_stands_for_a_new_job(clock: ManualClock, submit: Submit) -> None:
    first = submit()
    clock.advance(DAY_SECONDS)
    assert submit(a_submission({"other": []})).job_id != first.job_id


def test_another_tenants_key_is_another_key(harness: MemoryHarness, submit: Submit) -> None:
    harness.definitions.put("other", "scrape", a_definition())
    assert submit().job_id != submit(tenant="other").job_id


def test_another_body_is_refused_by_name_of_the_key(harness: MemoryHarness, submit: Submit) -> None:
    submit()
    with pytest.raises(KeyReused, match="'mine' was used for another job"):
        submit(a_submission(name="another"))
    assert len(harness.state.jobs) == 1


def test_what_is_left_out_and_what_is_said_as_the_default_are_the_same(submit: Submit) -> None:
    task = {"taskId": "a", "name": "scrape", "input": {"x": 1, "y": 2}}
    shuffled = {"input": {"y": 2, "x": 1}, "dependsOn": [], "name": "scrape", "taskId": "a"}
    first = submit(SubmitJob.model_validate({"tasks": [task]}))
    second = submit(SubmitJob.model_validate({"name": "job", "tasks": [shuffled]}))
    assert second == again(first)


def test_a_body_that_is_refused_does_not_use_up_its_key(submit: Submit) -> None:
    with pytest.raises(InvalidJob):
        submit(a_submission({"a": ["a"]}))
    submit(a_submission({"a": []}))


def test_a_bad_key_is_reported_with_everything_else_that_is_wrong(submit: Submit) -> None:
    with pytest.raises(InvalidJob) as refused:
        submit(a_submission({"a": ["b"]}), key="two words")
    key, dependency = map(str, refused.value.problems)
    assert key.startswith("Idempotency-Key: must be 1 to 255 printable ASCII")
    assert "'b', which does not exist" in dependency


@pytest.mark.usefixtures("every_job_is_large")
def test_a_large_job_is_accepted_and_left_to_the_dispatcher(
    harness: MemoryHarness, clock: ManualClock, submit: Submit
) -> None:
    accepted = submit()
    ref = JobRef(TENANT, accepted.job_id)
    job = harness.jobs.find(ref)
    assert job is not None
    assert (accepted.total_tasks, len(accepted.root_tasks)) == (5, 2)
    assert (job.state, job.total_tasks, job.written) == (JobState.WRITING, 5, 0)
    assert job.document_key == f"task/documents/{TENANT}/{accepted.job_id}.json"
    assert job.due_at_ms is not None
    assert (harness.state.tasks, harness.bus.events) == ({}, [])
    assert list(harness.dispatches.refs) == [ref]


@pytest.mark.usefixtures("every_job_is_large")
def test_while_a_large_job_is_being_written_its_dispatcher_is_only_woken_again(
    harness: MemoryHarness, clock: ManualClock, submit: Submit
) -> None:
    first = submit()
    harness.definitions.put(TENANT, "scrape", a_definition(description="A newer one."))
    saved = dict(harness.blobs.blobs)
    assert submit() == again(first)
    assert list(harness.dispatches.refs) == [JobRef(TENANT, first.job_id)] * 2
    assert harness.blobs.blobs == saved


@pytest.mark.usefixtures("every_job_is_large")
def test_once_a_large_job_is_open_nobody_is_woken(
    harness: MemoryHarness, clock: ManualClock, submit: Submit
) -> None:
    first = submit()
    job = harness.jobs.find(JobRef(TENANT, first.job_id))
    assert job is not None
    assert an_expander(harness, clock=clock).go_on(job, until=clock.monotonic())
    harness.dispatches.refs.clear()
    assert submit() == again(first)
    assert not harness.dispatches.refs


def test_no_producer_says_that_a_trigger_started_its_job(submit: Submit) -> None:
    tags = {"trigger": "nightly", "trigger-path": "uploads", "team": "x"}
    request = a_submission({"a": []}).model_copy(update={"tags": tags})
    with pytest.raises(InvalidJob) as refused:
        submit(request)
    assert [problem.path for problem in refused.value.problems] == [
        ("tags", "trigger"),
        ("tags", "trigger-path"),
    ]
