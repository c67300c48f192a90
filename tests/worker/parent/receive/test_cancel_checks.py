"""Checks of running tasks between two renewals: what they read, when, and what follows."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Lease, LifeSigns, Task
from switchyard.ports import Seen
from switchyard.testing import ManualClock
from switchyard.testing.leases import MemoryTaskLeases
from switchyard_worker.parent.receive.cancel_checks import CHECK_SECONDS, CancelChecks
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import JOB, a_task
from tests.worker.harness import WorkerHarness


class CountedLeases(MemoryTaskLeases):
    def __init__(self, harness: WorkerHarness) -> None:
        super().__init__(harness.memory.state)
        self.reads: list[int] = []
        self.renewals = 0
        self.problem: Exception | None = None

    def look_at(self, refs: Sequence[TaskRef]) -> Mapping[TaskRef, Seen]:
        self.reads.append(len(refs))
        if self.problem:
            raise self.problem
        return super().look_at(refs)

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        self.renewals += 1
        return super().renew(lease, lease_until_ms=lease_until_ms, signs=signs)


class Checked:
    """Attempts that run, whose tasks a test changes."""

    def __init__(self, harness: WorkerHarness) -> None:
        self.harness = harness
        self.clock = ManualClock()
        self.leases = CountedLeases(harness)
        self.checks = CancelChecks(
            runtime_of(replace(harness.ports(), clock=self.clock)), self.leases
        )
        self._open = ExitStack()

    def run(self, task_id: str) -> asyncio.Event:
        task = a_task(task_id, state=TaskState.PROCESSING, fence=1)
        self.harness.memory.state.tasks[task.ref] = task
        event = asyncio.Event()
        self._open.enter_context(self.checks.checking(Lease(task, "worker-1/1"), event))
        return event

    def end_all(self) -> None:
        self._open.close()

    def check_after(self, seconds: float) -> None:
        self.clock.advance(seconds)
        asyncio.run(self.checks.check())


@pytest.fixture
def checked(harness: WorkerHarness) -> Checked:
    return Checked(harness)


def test_a_task_is_not_read_in_its_first_seconds(checked: Checked) -> None:
    checked.run("a")

    checked.check_after(CHECK_SECONDS / 2)

    assert checked.leases.reads == []


def test_all_slots_are_checked_in_one_read(checked: Checked) -> None:
    first, second = checked.run("a"), checked.run("b")
    checked.harness.change("b", cancel_requested=True)

    checked.check_after(CHECK_SECONDS)

    assert checked.leases.reads == [2]
    assert (first.is_set(), second.is_set()) == (False, True)


def test_a_task_that_is_known_to_be_cancelled_or_has_ended_is_not_read(checked: Checked) -> None:
    checked.run("a").set()
    checked.check_after(CHECK_SECONDS)
    checked.run("b")
    checked.end_all()

    checked.check_after(CHECK_SECONDS)

    assert checked.leases.reads == []


def test_a_task_stops_when_its_job_is_cancelled_and_before_it_is_flagged(checked: Checked) -> None:
    event = checked.run("a")
    checked.harness.memory.state.jobs[JOB] = Job(
        ref=JOB,
        name="j",
        state=JobState.CANCELLING,
        total_tasks=1,
        created_at_ms=1,
        cancel_requested=True,
    )

    checked.check_after(CHECK_SECONDS)

    assert event.is_set()


@pytest.mark.parametrize(
    "facts", [{"fence": 2, "cancel_requested": True}, {"state": TaskState.QUEUED}], ids=str
)
def test_what_became_of_a_lost_lease_is_left_to_the_renewal(
    checked: Checked, facts: Mapping[str, Any]
) -> None:
    event = checked.run("a")
    checked.harness.change("a", **facts)

    checked.check_after(CHECK_SECONDS)

    assert not event.is_set()


@pytest.mark.parametrize("problem", [Unavailable("down"), MemoryError()], ids=repr)
def test_a_read_that_fails_is_made_again_later(checked: Checked, problem: Exception) -> None:
    event = checked.run("a")
    checked.harness.change("a", cancel_requested=True)
    checked.leases.problem = problem
    checked.check_after(CHECK_SECONDS)
    assert not event.is_set()

    checked.leases.problem = None
    checked.check_after(CHECK_SECONDS)

    assert event.is_set()


def test_a_worker_stops_a_cancelled_task_long_before_its_next_renewal(
    harness: WorkerHarness,
) -> None:
    harness.configure(visibility_extension_interval=20_000, visibility_extension_amount=30)
    harness.leases = leases = CountedLeases(harness)
    harness.add_task(given={"offline": {"delayMs": 60_000}})

    def cancelled() -> bool:
        if harness.emitted == ["Task Processing Started"] and not harness.task().cancel_requested:
            harness.change("a", cancel_requested=True)
        return harness.quiet()

    harness.work(until=cancelled)

    assert harness.task().state is TaskState.CANCELLED
    assert (leases.renewals, leases.reads) == (0, [1])
