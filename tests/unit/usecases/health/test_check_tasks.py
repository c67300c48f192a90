"""Which tasks are looked at, and by whose limits each of them is judged."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.health.health import Health, HealthLimits
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.ids import DUE_SHARDS, JobRef, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Overrides, Task
from switchyard.ports import PageOfUnsettled
from switchyard.usecases.health import check_tasks
from tests.fakes.harnesses.checked_harness import CheckedHarness

MINUTE = 60.0
DAY = 24 * 60 * MINUTE


@pytest.fixture
def harness() -> CheckedHarness:
    return CheckedHarness()


def test_where_nothing_runs_nothing_is_found(harness: CheckedHarness) -> None:
    lease = harness.start()
    harness.memory.leases.release(
        lease, not_before_ms=0, now_ms=harness.clock.now_ms(), give_attempt_back=True
    )
    report = harness.checker.check()
    assert (report.tasks, report.checked_at_ms) == ((), harness.clock.now_ms())


def test_every_running_task_of_every_tenant_is_found_once(harness: CheckedHarness) -> None:
    tenants = ("acme", "umbrella", "initech")
    leases = [harness.start(tenant=tenant) for tenant in tenants for _ in range(20)]
    found = [task.ref for task in harness.checker.check().tasks]
    assert sorted(found) == sorted(lease.ref for lease in leases)


def test_pages_are_read_to_their_end(
    harness: CheckedHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_tasks, "ROWS_PER_PAGE", 1)
    for _ in range(3 * DUE_SHARDS):
        harness.start()
    assert len(harness.checker.check().tasks) == 3 * DUE_SHARDS


def test_a_task_that_moves_to_a_later_page_meanwhile_is_not_found_twice(
    harness: CheckedHarness,
) -> None:
    harness.start()
    page = harness.memory.unsettled.page

    def twice(shard: int, *, limit: int, cursor: str | None) -> PageOfUnsettled:
        found = page(shard, limit=limit, cursor=None)
        return PageOfUnsettled(found.tasks, None if cursor else "again")

    harness.memory.unsettled.page = twice  # type: ignore[method-assign]
    assert len(harness.checker.check().tasks) == 1


def test_what_has_settled_since_it_was_listed_is_left_out(harness: CheckedHarness) -> None:
    lease = harness.start()
    read = harness.memory.unsettled.read
    failed = Outcome(state=TaskState.FAILED, error="boom")

    def settle_first(refs: Sequence[TaskRef]) -> tuple[Task, ...]:
        harness.memory.leases.settle(lease, failed, output=None, now_ms=harness.clock.now_ms())
        return read(refs)

    harness.memory.unsettled.read = settle_first  # type: ignore[method-assign]
    assert harness.checker.check().tasks == ()


def test_a_task_that_was_started_days_ago_is_still_found(harness: CheckedHarness) -> None:
    lease = harness.start()
    harness.clock.advance(3 * DAY)
    [found] = harness.checker.check().tasks
    assert (found.ref, found.health) == (lease.ref, Health.CRITICAL)
    assert found.elapsed_ms == found.silent_ms == 3 * DAY * 1000


def test_a_renewal_is_a_sign_of_life(harness: CheckedHarness) -> None:
    silent, alive = harness.start(), harness.start()
    harness.clock.advance(11 * MINUTE)
    harness.beat(alive)
    found = harness.check()
    assert found[silent.ref.job_id].health is Health.CRITICAL
    assert found[alive.ref.job_id].health is Health.HEALTHY


def test_a_task_is_judged_by_the_version_of_its_definition_that_it_runs(
    harness: CheckedHarness,
) -> None:
    patient = harness.start(health={"silentWarning": 1_200_000, "silentCritical": 1_800_000})
    nervous = harness.start(health={"silentWarning": 10_000, "silentCritical": 30_000})
    like_any_other = harness.start()
    harness.clock.advance(6 * MINUTE)
    found = {job: task.health for job, task in harness.check().items()}
    assert found == {
        patient.ref.job_id: Health.HEALTHY,
        nervous.ref.job_id: Health.CRITICAL,
        like_any_other.ref.job_id: Health.WARNING,
    }


def test_each_definition_is_read_once(harness: CheckedHarness) -> None:
    for _ in range(5):
        harness.start(tag="one")
        harness.start(tenant="umbrella")
    asked: list[tuple[str, str, int]] = []
    read = harness.memory.definitions.version

    def noted(tenant: str, name: str, version: int) -> RegisteredDefinition:
        asked.append((tenant, name, version))
        return read(tenant, name, version)

    harness.memory.definitions.version = noted  # type: ignore[method-assign]
    harness.checker.check()
    assert sorted(asked) == [("acme", "scrape", 1), ("umbrella", "scrape", 1)]


@pytest.mark.parametrize(
    ("definition", "asked_for", "allowed"),
    [
        ({}, None, 60),
        ({"timeout": 300_000}, None, 6),
        ({"timeout": 300_000}, 600_000, 11),
        ({"health": {"overtime": 120_000}, "timeout": 300_000}, 600_000, 2),
    ],
    ids=["the stage's hour", "timeout", "a redrive's timeout", "its own"],
)
def test_overtime_is_what_its_definition_or_the_redrive_allows(
    harness: CheckedHarness, definition: dict[str, Any], asked_for: int | None, allowed: int
) -> None:
    lease = harness.start(**definition)
    task = harness.memory.state.tasks[lease.ref]
    overrides = Overrides(timeout_ms=asked_for)
    harness.memory.state.tasks[lease.ref] = replace(task, overrides=overrides)
    harness.clock.advance(allowed * MINUTE)
    harness.beat(lease)
    assert harness.check()[lease.ref.job_id].health is Health.HEALTHY
    harness.clock.advance(0.001)
    harness.beat(lease)
    assert harness.check()[lease.ref.job_id].health is Health.OVERTIME


def test_a_task_whose_definition_is_gone_is_judged_as_the_stage_says(
    harness: CheckedHarness,
) -> None:
    harness.limits = HealthLimits(silent_critical_ms=1_000)
    lease = harness.start(version=99)
    harness.clock.advance(2)
    assert harness.check()[lease.ref.job_id].health is Health.CRITICAL


def test_one_task_is_checked_by_itself(harness: CheckedHarness) -> None:
    lease = harness.start()
    harness.start()
    harness.clock.advance(6 * MINUTE)
    checked = harness.checker.check_one(lease.ref)
    assert checked is not None
    assert (checked.ref, checked.health) == (lease.ref, Health.WARNING)


def test_a_task_that_is_unknown_or_does_not_run_is_not_found(harness: CheckedHarness) -> None:
    lease = harness.start()
    done = Outcome(state=TaskState.COMPLETED, exit_code=0)
    harness.memory.leases.settle(lease, done, output=None, now_ms=harness.clock.now_ms())
    assert harness.checker.check_one(lease.ref) is None
    assert harness.checker.check_one(JobRef("acme", lease.ref.job_id).task("nobody")) is None


CODE: dict[str, Any] = {
    "kind": "code",
    "tag": None,
    "description": None,
    "function": "my_functions.text:split",
    "code_hash": "ab12" * 16,
}
WORKER = PresentWorker(worker_id="w-1", started_at_ms=0, seen_at_ms=0, slots=3, busy=0, version="1")


def hand_back(harness: CheckedHarness, **facts: Any) -> TaskRef:
    lease = harness.start(**facts)
    harness.memory.leases.release(
        lease, not_before_ms=0, now_ms=harness.clock.now_ms(), give_attempt_back=True
    )
    return lease.ref


def test_code_that_no_worker_serves_is_found_once_its_tasks_have_waited(
    harness: CheckedHarness,
) -> None:
    first = hand_back(harness, **CODE)
    harness.clock.advance(MINUTE)
    hand_back(harness, **CODE)
    hand_back(harness)  # an agent's: any worker serves it

    assert harness.checker.check().unserved == ()
    harness.clock.advance(11 * MINUTE)
    report = harness.checker.check()

    (unserved,) = report.unserved
    assert (unserved.code, unserved.tasks) == ("my_functions@ab12ab12ab12", 2)
    assert (unserved.first, unserved.waiting_ms) == (first, 12 * 60_000)
    assert report.alarming


def test_code_that_a_present_worker_serves_is_only_waited_for(harness: CheckedHarness) -> None:
    hand_back(harness, **CODE)
    harness.clock.advance(11 * MINUTE)
    now_ms = harness.clock.now_ms()
    served = replace(WORKER, seen_at_ms=now_ms, functions=("my_functions@ab12ab12ab12",))

    harness.memory.presence.seen(replace(served, seen_at_ms=0))
    assert len(harness.checker.check().unserved) == 1
    harness.memory.presence.seen(served)
    assert harness.checker.check().unserved == ()


def test_a_task_that_runs_is_not_waiting_for_its_code(harness: CheckedHarness) -> None:
    harness.start(**CODE)
    harness.clock.advance(11 * MINUTE)

    assert harness.checker.check().unserved == ()


def test_progress_that_a_function_reports_is_part_of_the_reason(harness: CheckedHarness) -> None:
    harness.beat(harness.start(), activity="progress:40 % page 12 of 30")

    (task,) = harness.checker.check().tasks
    assert task.reason == "40 % page 12 of 30, last sign of life 0 s ago"
