"""The contract of `TaskAdoption`, which takes in bare tasks."""

from collections.abc import Callable

import pytest

from switchyard.domain.ids import TaskRef, bare_task, due_shard
from switchyard.domain.jobs.adoption import Adoption, adopted_task
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.claim_refusals import Busy, Done
from switchyard.domain.tasks.task import Json, Lease, Outcome, Payload, Task
from switchyard.ports import Claimed, ClaimRefused, TaskAdoption
from tests.builders import NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend

LEASE_MS = 45_000
BARE = bare_task(TENANT, "order-42")
COMPLETED = Outcome(state=TaskState.COMPLETED, exit_code=0)
FAILED = Outcome(state=TaskState.FAILED, error="boom")


@pytest.fixture
def adoption(backend: Backend) -> TaskAdoption:
    return backend.adoption


def an_adoption(
    given: Json = None,
    *,
    context: dict[str, Json] | None = None,
    ref: TaskRef = BARE,
    version: int = 3,
) -> Adoption:
    task = adopted_task(ref, definition="scrape", pinned=Pinned(version), now_ms=NOW_MS)
    return Adoption(task, given, context or {})


def claim(backend: Backend, ref: TaskRef = BARE, *, now_ms: int = NOW_MS) -> Lease:
    answer = backend.leases.claim(ref, owner="w/1", now_ms=now_ms, lease_ms=LEASE_MS)
    assert isinstance(answer, Claimed)
    return answer.lease


def the_task(backend: Backend) -> Task:
    task = backend.graph.find(BARE)
    assert task is not None
    return task


@pytest.mark.parametrize(
    "given", [None, {"a": [1.5, "ü"]}, "x" * 20_000], ids=["none", "small", "large"]
)
def test_an_adopted_task_is_stored_with_its_input(
    backend: Backend, adoption: TaskAdoption, given: Json
) -> None:
    assert adoption.adopt(an_adoption(given))
    assert the_task(backend) == an_adoption().task
    assert backend.payloads.read(BARE) == Payload(input=given)


@pytest.mark.parametrize("size", [1, 20_000], ids=["small", "large"])
def test_fields_of_other_producers_are_stored_with_the_task(
    backend: Backend, adoption: TaskAdoption, size: int
) -> None:
    context = {"parent": {"text": "x" * size}, "other": None}
    assert adoption.adopt(an_adoption("given", context=context))
    assert backend.payloads.read(BARE) == Payload(input="given", context=context)


def test_an_adopted_task_is_claimed_and_settled_like_any_other(
    backend: Backend, adoption: TaskAdoption
) -> None:
    adoption.adopt(an_adoption({"a": 1}))
    lease = claim(backend)
    assert (lease.fence, lease.task.attempt, lease.task.definition_version) == (1, 1, 3)
    backend.leases.settle(lease, COMPLETED, output={"b": 2}, now_ms=NOW_MS)
    assert the_task(backend).state is TaskState.COMPLETED
    assert backend.payloads.read(BARE) == Payload(input={"a": 1}, output={"b": 2})


def test_an_adopted_task_belongs_to_no_job(backend: Backend, adoption: TaskAdoption) -> None:
    adoption.adopt(an_adoption())
    assert backend.jobs.find(BARE.job) is None
    assert backend.graph.edges_from([BARE]) == {}
    assert backend.jobs.page(TENANT, limit=10, cursor=None).jobs == ()


def test_an_adopted_task_that_nobody_claims_is_overdue(
    backend: Backend, adoption: TaskAdoption
) -> None:
    adoption.adopt(an_adoption())
    due_at_ms = NOW_MS + due.AFTER_QUEUED
    shard = due_shard(BARE.request_id)
    for now_ms, refs in ((due_at_ms - 1, ()), (due_at_ms, (BARE,))):
        page = backend.overdue.page(shard, now_ms=now_ms, limit=10, cursor=None)
        assert page.refs == refs


def test_two_tenants_may_use_the_same_id(backend: Backend, adoption: TaskAdoption) -> None:
    other = bare_task("other", BARE.request_id)
    assert adoption.adopt(an_adoption("ours"))
    assert adoption.adopt(an_adoption("theirs", ref=other))
    assert backend.payloads.read(BARE).input == "ours"
    assert backend.payloads.read(other).input == "theirs"


def settle(outcome: Outcome) -> Callable[[Backend], object]:
    return lambda backend: backend.leases.settle(claim(backend), outcome, output="o", now_ms=NOW_MS)


def release(backend: Backend) -> None:
    backend.leases.release(
        claim(backend), not_before_ms=NOW_MS + 9, now_ms=NOW_MS, give_attempt_back=False
    )


def give_up(backend: Backend) -> None:
    cancelled = Outcome(state=TaskState.CANCELLED)
    assert backend.leases.give_up(the_task(backend), cancelled, now_ms=NOW_MS)


MEANWHILE: dict[str, Callable[[Backend], object]] = {
    "queued": lambda backend: None,
    "processing": claim,
    "handed back": release,
    "completed": settle(COMPLETED),
    "failed": settle(FAILED),
    "timed out": settle(Outcome(state=TaskState.TIMED_OUT)),
    "cancelled": give_up,
}


@pytest.mark.parametrize("given", ["x", "x" * 20_000], ids=["small", "large"])
@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE.keys())
def test_a_later_adoption_finds_the_task_and_changes_nothing(
    backend: Backend, adoption: TaskAdoption, meanwhile: Callable[[Backend], object], given: Json
) -> None:
    assert adoption.adopt(an_adoption(given))
    meanwhile(backend)
    before, data = the_task(backend), backend.payloads.read(BARE)
    assert not adoption.adopt(an_adoption(f"{given}y", version=9))
    assert (the_task(backend), backend.payloads.read(BARE)) == (before, data)


def test_of_two_that_adopt_it_one_runs_it(backend: Backend, adoption: TaskAdoption) -> None:
    adopted = [adoption.adopt(an_adoption()) for _ in range(2)]
    assert adopted == [True, False]
    lease = claim(backend)
    other = backend.leases.claim(BARE, owner="w/2", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert other == ClaimRefused(lease.task, Busy(f"busy until {NOW_MS + LEASE_MS}"))
    backend.leases.settle(lease, COMPLETED, output=1, now_ms=NOW_MS + 5)
    late = backend.leases.claim(BARE, owner="w/2", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert isinstance(late, ClaimRefused)
    assert late.decision == Done(f"done: completed at {NOW_MS + 5}")


def test_a_job_beside_it_is_not_touched(backend: Backend, adoption: TaskAdoption) -> None:
    plan = a_plan()
    backend.intake.write(plan)
    before = backend.jobs.picture(plan.job.ref)
    adoption.adopt(an_adoption())
    assert backend.jobs.picture(plan.job.ref) == before
