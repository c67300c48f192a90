"""The lease beside the run: kept, lost, cancelled, handed back."""

import threading
import time
from typing import Any

import psutil
import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, LifeSigns, Task
from switchyard.ports import Received
from switchyard.settings import WorkerSettings
from switchyard_worker.parent.receive.lease import LeaseTiming
from tests.builders import a_task
from tests.worker.harness import LongPoll, WorkerHarness

LONG = {"offline": {"delayMs": 60_000}}


class Leases:
    """The harness's leases, with a renewal that a test can replace."""

    def __init__(self, harness: WorkerHarness) -> None:
        self._leases = harness.memory.leases
        self.renewals = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._leases, name)

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        self.renewals += 1
        return self._leases.renew(lease, lease_until_ms=lease_until_ms, signs=signs)


class UnreachableLeases(Leases):
    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        self.renewals += 1
        raise Unavailable("the state table is down")


class HangingLeases(Leases):
    def __init__(self, harness: WorkerHarness) -> None:
        super().__init__(harness)
        self.answer = threading.Event()

    def renew(self, lease: Lease, *, lease_until_ms: int, signs: LifeSigns | None = None) -> Task:
        self.renewals += 1
        self.answer.wait(10)
        raise Unavailable("no answer")


def test_a_task_longer_than_its_lease_keeps_it(harness: WorkerHarness) -> None:
    harness.configure(visibility_extension_amount=1)
    harness.leases = leases = Leases(harness)
    harness.add_task(given={"offline": {"delayMs": 2_000}})

    harness.work(until=harness.quiet)

    assert harness.task().attempt == 1
    assert harness.task().state is TaskState.COMPLETED
    assert leases.renewals >= 5


def test_a_task_that_somebody_else_took_is_stopped_and_not_settled(harness: WorkerHarness) -> None:
    harness.add_task(given=LONG)
    taken: list[float] = []

    def somebody_took_it_and_we_noticed() -> bool:
        if not taken and harness.emitted:
            harness.change("a", owner="another", fence=9)
            taken.append(time.monotonic())
        return bool(taken) and time.monotonic() > taken[0] + 1

    harness.work(until=somebody_took_it_and_we_noticed)

    assert harness.task().state is TaskState.PROCESSING
    assert harness.task().owner == "another"
    assert harness.emitted == ["Task Processing Started"]
    assert harness.memory.queue.waiting == 1


@pytest.mark.parametrize("kind", [UnreachableLeases, HangingLeases])
def test_without_a_confirmed_renewal_the_child_stops_before_the_lease_ends(
    harness: WorkerHarness, kind: type[Leases]
) -> None:
    harness.leases = kind(harness)
    harness.add_task(given=LONG)
    began = time.monotonic()
    ended: list[float] = []

    def child_is_gone() -> bool:
        finished = bool(harness.emitted) and not _children_in(harness)
        if finished:
            ended.append(time.monotonic() - began)
        return finished

    harness.work(until=child_is_gone)

    timing = LeaseTiming.of(harness.settings)
    assert timing.held_seconds - 0.2 < ended[0] < timing.lease_seconds
    assert harness.task().state is TaskState.PROCESSING
    assert harness.memory.queue.waiting == 1
    if isinstance(harness.leases, HangingLeases):
        harness.leases.answer.set()


def test_losing_only_the_visibility_changes_nothing(harness: WorkerHarness) -> None:
    class Deaf(LongPoll):
        def extend(self, message: Received, *, seconds: int) -> None:
            raise Unavailable("the queue is down")

    harness.inbox = Deaf(harness.memory)
    harness.add_task(given={"offline": {"delayMs": 1_000}})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED


def test_a_running_task_sees_its_cancellation_at_the_next_beat(harness: WorkerHarness) -> None:
    harness.add_task(given=LONG)

    def cancelled() -> bool:
        if harness.emitted == ["Task Processing Started"] and not harness.task().cancel_requested:
            harness.change("a", cancel_requested=True)
        return harness.quiet()

    harness.work(until=cancelled)

    assert harness.task().state is TaskState.CANCELLED
    assert harness.emitted == ["Task Processing Started", "Task Cancelled"]


def test_what_does_not_finish_within_the_grace_is_handed_back(harness: WorkerHarness) -> None:
    harness.configure(stop_grace_seconds=1)
    harness.add_task(given=LONG)

    harness.work(until=lambda: harness.emitted == ["Task Processing Started"])

    assert harness.task().state is TaskState.QUEUED
    assert harness.task().attempt == 0
    assert harness.emitted == ["Task Processing Started", "Task Released"]
    assert harness.memory.queue.waiting == 1
    assert not _children_in(harness)


def test_a_task_may_finish_within_the_grace(harness: WorkerHarness) -> None:
    harness.add_task(given={"offline": {"delayMs": 500}})

    harness.work(until=lambda: harness.emitted == ["Task Processing Started"])

    assert harness.task().state is TaskState.COMPLETED


def test_the_seeds_figures_make_a_lease_of_45_seconds(harness: WorkerHarness) -> None:
    timing = LeaseTiming.of(_with(harness.settings, interval=20_000, amount=30))

    assert timing.lease_seconds == 45
    assert timing.held_seconds == 35
    assert timing.visibility_seconds == 50


def test_a_beat_slower_than_the_lease_is_refused(harness: WorkerHarness) -> None:
    with pytest.raises(ValueError, match="VISIBILITY_EXTENSION_INTERVAL"):
        LeaseTiming.of(_with(harness.settings, interval=40_000, amount=30))


def _with(settings: WorkerSettings, *, interval: int, amount: int) -> WorkerSettings:
    changed = {"visibility_extension_interval": interval, "visibility_extension_amount": amount}
    return settings.model_copy(update=changed)


def _children_in(harness: WorkerHarness) -> list[int]:
    def cwd(process: psutil.Process) -> str:
        try:
            return process.cwd()
        except psutil.Error:
            return ""

    return [p.pid for p in psutil.Process().children() if cwd(p).startswith(str(harness.folder))]


STAGES_TIMING = LeaseTiming(
    lease_seconds=45.0, beat_seconds=10.0, kill_seconds=5.0, margin_seconds=5.0
)


def test_a_task_without_a_lease_of_its_own_is_renewed_as_the_stage_says() -> None:
    assert STAGES_TIMING.for_task(a_task()) is STAGES_TIMING


@pytest.mark.parametrize("lease_ms", [10_000, 60_000, 900_000])
def test_a_task_is_renewed_for_the_lease_of_its_queue(lease_ms: int) -> None:
    timing = STAGES_TIMING.for_task(a_task(lease_ms=lease_ms))
    assert timing.lease_ms == lease_ms
    assert timing.beat_seconds < timing.held_seconds
    assert timing.beat_seconds <= STAGES_TIMING.beat_seconds
