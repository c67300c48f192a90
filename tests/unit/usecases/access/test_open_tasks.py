"""A tenant has at most so many open tasks."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.changes import RedriveJob
from switchyard.contracts.jobs import JobAccepted
from switchyard.domain.access.limits import BEING_SUBMITTED_MS
from switchyard.domain.errors import InvalidJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.access.limits import MOST_CHECKED
from tests.builders import TENANT, a_definition, a_submission
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.growing_harness import AddingHarness, an_addition
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.harnesses.submitting import a_limit, a_submitter

CHAIN = {"a": [], "b": ["a"], "c": ["b"]}


class Stage:
    def __init__(self, most: int) -> None:
        self.clock = ManualClock()
        self.memory = MemoryHarness(self.clock)
        self.limit = a_limit(self.memory, clock=self.clock, most=most)
        for tenant in (TENANT, "other"):
            self.memory.definitions.put(tenant, "scrape", a_definition())

    def submit(self, tenant: str = TENANT, key: str | None = None) -> JobAccepted:
        submitter = a_submitter(self.memory, clock=self.clock, ids=SystemIds())
        limited = replace(submitter, open_tasks=self.limit)
        return limited.submit(tenant, a_submission(CHAIN), key=key)

    def refusal(self) -> str:
        with pytest.raises(InvalidJob) as refused:
            self.submit()
        (problem,) = refused.value.problems
        assert problem.path == ("tasks",)
        return problem.message

    def leave(self, accepted: JobAccepted, state: JobState) -> None:
        """Settle a job without closing it, as a crash at that moment does."""
        ref = JobRef(TENANT, accepted.job_id)
        self.memory.state.jobs[ref] = replace(self.memory.state.jobs[ref], state=state)

    def fill(self, jobs: int, *, now_ms: int) -> None:
        for number in range(jobs):
            ref = JobRef(TENANT, f"job-{number * 0x55555:08x}-0000-4000-8000-000000000000")
            self.memory.open_tasks.note(ref, run=1, tasks=1, now_ms=now_ms)

    def counted(self, tenant: str = TENANT) -> list[int]:
        return [job.tasks for job in self.memory.open_tasks.of_tenant(tenant)]


def test_a_job_that_would_be_too_much_is_refused_with_what_is_allowed_and_leaves_nothing() -> None:
    stage = Stage(most=7)
    stage.submit()
    stage.submit()
    stored = dict(stage.memory.state.jobs)
    assert stage.refusal() == (
        "would make 9 open tasks; this stage allows at most 7 per tenant: wait until jobs have"
        " settled, or cancel some"
    )
    assert stage.memory.state.jobs == stored
    assert stage.counted() == [3, 3]


def test_a_limit_is_reached_exactly() -> None:
    stage = Stage(most=6)
    stage.submit()
    stage.submit()
    assert stage.refusal().startswith("would make 9")


def test_tenants_do_not_count_for_each_other() -> None:
    stage = Stage(most=3)
    stage.submit()
    assert stage.refusal()
    assert stage.submit("other")


def test_who_submits_again_under_a_key_is_counted_once() -> None:
    stage = Stage(most=3)
    assert stage.submit(key="mine").job_id == stage.submit(key="mine").job_id
    assert stage.counted() == [3]


def test_a_refused_job_is_accepted_under_its_key_once_there_is_room() -> None:
    stage = Stage(most=3)
    first = stage.submit()
    with pytest.raises(InvalidJob):
        stage.submit(key="mine")
    stage.leave(first, JobState.COMPLETED)
    assert stage.submit(key="mine")


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED])
def test_settled_jobs_that_a_crash_left_counted_are_closed_before_anything_is_refused(
    state: JobState,
) -> None:
    stage = Stage(most=6)
    over = stage.submit()
    stage.submit()
    stage.leave(over, state)
    assert stage.submit()
    assert stage.counted() == [3, 3]
    assert stage.refusal()


@pytest.mark.parametrize("state", [JobState.OPEN, JobState.CANCELLING, JobState.REDRIVING])
def test_jobs_that_are_under_way_stay_counted(state: JobState) -> None:
    stage = Stage(most=3)
    stage.leave(stage.submit(), state)
    assert stage.refusal()


def test_a_job_that_is_being_submitted_stays_counted_until_nobody_can_be_at_it_any_more() -> None:
    stage = Stage(most=3)
    ref = JobRef(TENANT, SystemIds().new_job_id())
    stage.memory.open_tasks.note(ref, run=1, tasks=3, now_ms=stage.clock.now_ms())
    stage.clock.advance(BEING_SUBMITTED_MS / 1000)
    assert stage.refusal()
    stage.clock.advance(1)
    assert stage.submit()


def test_an_abandoned_job_is_left_over() -> None:
    stage = Stage(most=3)
    accepted = stage.submit()
    ref = JobRef(TENANT, accepted.job_id)
    stage.leave(accepted, JobState.WRITING)
    assert stage.refusal()
    job = replace(stage.memory.state.jobs[ref], due_at_ms=None)
    stage.memory.state.jobs[ref] = job
    assert stage.submit()


def test_a_run_that_is_about_to_be_opened_again_is_not_left_over() -> None:
    stage = Stage(most=3)
    accepted = stage.submit()
    stage.leave(accepted, JobState.FAILED)
    ref = JobRef(TENANT, accepted.job_id)
    stage.memory.open_tasks.note(ref, run=2, tasks=1, now_ms=stage.clock.now_ms())
    assert stage.refusal().startswith("would make 4 open tasks")


def test_of_very_many_jobs_no_more_are_checked_than_make_room() -> None:
    stage = Stage(most=MOST_CHECKED * 3)
    stage.fill(MOST_CHECKED * 3, now_ms=0)
    stage.clock.advance(BEING_SUBMITTED_MS)
    stage.submit()
    assert len(stage.counted()) == 1 + MOST_CHECKED * 3 - 100


def test_one_request_checks_a_bounded_number_of_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(most=MOST_CHECKED * 3)
    checked: list[JobRef] = []

    def find_many(refs: Sequence[JobRef]) -> list[Job]:
        checked.extend(refs)
        return []

    monkeypatch.setattr(stage.memory.jobs, "find_many", find_many)
    stage.fill(MOST_CHECKED * 3, now_ms=stage.clock.now_ms())
    assert stage.refusal()
    assert len(checked) == len(set(checked)) == MOST_CHECKED


def test_a_settled_job_is_counted_no_more() -> None:
    harness = ChangedHarness()
    harness.start({"a": [], "b": ["a"], "c": []})
    assert [job.tasks for job in harness.memory.open_tasks.of_tenant(TENANT)] == [3]
    harness.settle("a", FAILED)
    harness.settle("c")
    harness.deliver()
    assert harness.memory.open_tasks.of_tenant(TENANT) == []


def test_a_redriven_job_is_counted_with_what_it_reopens_until_it_settles_again() -> None:
    harness = ChangedHarness()
    harness.start({"a": [], "b": ["a"], "c": []})
    harness.settle("a", FAILED)
    harness.settle("c")
    harness.deliver()
    harness.redrive()
    harness.deliver()
    (counted,) = harness.memory.open_tasks.of_tenant(TENANT)
    assert (counted.run, counted.tasks) == (2, 2)
    harness.settle("a")
    harness.deliver()
    harness.settle("b")
    harness.deliver()
    assert harness.memory.open_tasks.of_tenant(TENANT) == []


def test_a_redrive_that_would_be_too_much_is_refused() -> None:
    harness = ChangedHarness()
    harness.start({"a": [], "b": ["a"], "c": []})
    harness.settle("a", FAILED)
    harness.settle("c")
    harness.deliver()
    limited = replace(
        harness.redrives, open_tasks=a_limit(harness.memory, clock=harness.clock, most=1)
    )
    with pytest.raises(InvalidJob, match="would make 2 open tasks"):
        limited.request_redrive(harness.job, RedriveJob())
    assert harness.job_state() is JobState.FAILED


def test_added_tasks_count() -> None:
    harness = AddingHarness()
    harness.start({"a": []})
    harness.adder = replace(
        harness.adder, open_tasks=a_limit(harness.memory, clock=harness.clock, most=3)
    )
    harness.add({"b": ["a"]})
    harness.add({"c": ["a"]})
    assert [job.tasks for job in harness.memory.open_tasks.of_tenant(TENANT)] == [3]
    with pytest.raises(InvalidJob, match="would make 4 open tasks"):
        harness.adder.add(harness.job, an_addition({"d": ["a"]}))
    assert "d" not in {task.ref.task_id for task in harness.memory.state.tasks.values()}


def test_tasks_that_are_added_again_are_counted_once() -> None:
    harness = AddingHarness()
    harness.start({"a": []})
    for _ in range(3):
        harness.add({"b": ["a"]})
    assert [job.tasks for job in harness.memory.open_tasks.of_tenant(TENANT)] == [2]
