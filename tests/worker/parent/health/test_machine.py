"""A machine's own trouble is not charged to tasks, and a sick machine takes no more of them."""

import asyncio
import errno
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from switchyard.domain.health.rollout import Hold, decide_hold
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.guard.starting import GuardUnavailable
from switchyard_worker.parent.attempts.verdict import (
    Concluded,
    HandedBack,
    Verdict,
    cancelled,
    failed,
)
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.health.machine import (
    FIRST_DELAY_MS,
    LEAST_REST_SECONDS,
    LONGEST_DELAY_MS,
    MOST_GIVEN_BACK,
    MOST_IN_A_ROW,
    Machine,
    machine_trouble,
)
from switchyard_worker.parent.health.pulse import LEAST_FREE_BYTES, probe
from switchyard_worker.parent.health.stop import MOST_IN_A_ROW as MOST_BUGS_IN_A_ROW
from tests.builders import a_task
from tests.worker.harness import WorkerHarness

FULL = OSError(errno.ENOSPC, "No space left on device")


class FakeTime:
    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def now_ms(self) -> int:
        return round(1000 * self.now)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


async def at_once(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return call(*args, **named)


class Bed:
    """A machine whose probe finds what the test says."""

    def __init__(self) -> None:
        self.clock = FakeTime()
        self.found: str | None = None
        self.machine = Machine(
            probe=lambda: self.found, clock=self.clock, sleep=self._sleep, offload=at_once
        )

    async def _sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def look(self) -> str | None:
        return asyncio.run(self.machine.look())

    def judge(self, verdict: Verdict) -> Verdict:
        return asyncio.run(self.machine.judge(a_task(), verdict))


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (FULL, "No space left on device (ENOSPC)"),
        (OSError(errno.EROFS, "x"), "Read-only file system (EROFS)"),
        (OSError(errno.EMFILE, "x"), "Too many open files (EMFILE)"),
        (BlockingIOError(errno.EAGAIN, "fork"), "Resource temporarily unavailable (EAGAIN)"),
        (MemoryError(), "out of memory"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory"),
        (ImportError("cannot import name x"), None),
        (RuntimeError("can't start new thread"), "no thread can be started"),
        (GuardUnavailable("no process checks schemas"), "no process checks schemas"),
        (ExceptionGroup("several", [ValueError(), FULL]), "No space left on device (ENOSPC)"),
        (RuntimeError("something else"), None),
        (PermissionError(errno.EACCES, "x"), None),
        (ValueError("x"), None),
    ],
)
def test_what_the_machine_lacks_is_told_from_other_problems(
    problem: Exception, said: str | None
) -> None:
    assert machine_trouble(problem) == said


def test_the_cause_of_a_problem_counts_too() -> None:
    wrapped = ValueError("no folder")
    wrapped.__cause__ = FULL
    assert machine_trouble(wrapped) == "No space left on device (ENOSPC)"


def test_attempts_are_given_back_after_growing_pauses_and_then_no_more_are_taken() -> None:
    machine = Bed().machine
    given = [machine.give_back(a_task(), "full") for _ in range(10)]
    delays = [verdict.delay_ms for verdict in given if isinstance(verdict, HandedBack)]
    assert delays[:3] == [FIRST_DELAY_MS, 2 * FIRST_DELAY_MS, 4 * FIRST_DELAY_MS]
    assert delays[-1] == LONGEST_DELAY_MS
    assert machine.sick == "full"
    assert decide_hold(pause=None, deployment=None, sick=machine.sick) is Hold.SICK


def test_trouble_that_a_success_interrupts_makes_no_machine_sick() -> None:
    bed = Bed()
    for _ in range(MOST_IN_A_ROW):
        bed.machine.give_back(a_task(), "full")
        bed.judge(cancelled(duration_ms=1))
    assert bed.machine.sick is None


def test_a_sick_machine_that_recovers_takes_tasks_again() -> None:
    bed = Bed()
    bed.found = "no space"
    assert bed.look() == "no space"
    assert bed.machine.sick == "no space"
    bed.found = None
    bed.look()
    assert bed.machine.sick is None


def test_after_trouble_in_a_row_it_rests_even_if_a_probe_finds_nothing() -> None:
    bed = Bed()
    for _ in range(MOST_IN_A_ROW):
        bed.machine.give_back(a_task(), "no thread can be started")
    bed.look()
    assert bed.machine.sick
    bed.clock.now += LEAST_REST_SECONDS
    bed.look()
    assert bed.machine.sick is None


def test_a_failure_on_a_sick_machine_is_given_back_unless_it_is_the_tasks_own() -> None:
    bed = Bed()
    died = failed(category=FailureCategory.CHILD_DIED, error="no outcome")
    invalid = failed(category=FailureCategory.VALIDATION, error="more than 100 MB")
    assert bed.judge(died) is died
    bed.found = "no space"
    given = bed.judge(died)
    assert isinstance(given, HandedBack)
    assert "no space" in given.reason
    assert bed.judge(invalid) is invalid


def test_a_task_that_makes_one_machine_after_the_other_sick_is_charged_in_the_end() -> None:
    task = a_task(fence=MOST_GIVEN_BACK + 1, attempt=1)
    given = Bed().machine.give_back(task, "full")
    assert isinstance(given, Concluded)
    assert given.category is FailureCategory.SERVER_ERROR


def test_a_probe_names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert probe(tmp_path) is None
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    assert "Not a directory" in (probe(tmp_path / "file" / "folder") or "")
    monkeypatch.setattr("switchyard_worker.parent.health.pulse.LEAST_FREE_BYTES", 2**62)
    assert "MB left" in (probe(tmp_path) or "")
    monkeypatch.setattr("switchyard_worker.parent.health.pulse.LEAST_FREE_BYTES", LEAST_FREE_BYTES)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr("switchyard_worker.parent.health.pulse.LEAST_FREE_DESCRIPTORS", 1_000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (500, hard))
    try:
        assert "Too many open files" in (probe(tmp_path) or "")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_probes_of_attempts_that_end_together_find_nothing_wrong(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: probe(tmp_path), range(200)))
    assert found == {None}
    assert not list(tmp_path.iterdir())


def test_a_worker_without_disk_fails_no_task(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary, left = TaskFolder.fresh, 4

    def full_for_a_while(*args: Any) -> TaskFolder:
        nonlocal left
        left -= 1
        if left > 0:
            raise FULL
        return ordinary(*args)

    monkeypatch.setattr("switchyard_worker.parent.health.machine.LEAST_REST_SECONDS", 0.0)
    monkeypatch.setattr("switchyard_worker.parent.health.machine.SECONDS_BETWEEN_PROBES", 0.2)
    monkeypatch.setattr("switchyard_worker.parent.health.machine.FIRST_DELAY_MS", 1)
    monkeypatch.setattr("switchyard_worker.parent.receive.loop.HOLD_SECONDS", 0.1)
    monkeypatch.setattr(TaskFolder, "fresh", full_for_a_while)
    for number in range(3):
        harness.add_task(f"t{number}", max_attempts=1)

    harness.work(until=harness.settled, seconds=30)

    tasks = list(harness.memory.state.tasks.values())
    assert {task.state for task in tasks} == {TaskState.COMPLETED}
    assert {task.attempt for task in tasks} == {1}


def test_trouble_before_a_claim_is_no_bug_and_ends_no_worker(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of it than there may be bugs in a row."""
    monkeypatch.setattr("switchyard_worker.parent.health.machine.LEAST_REST_SECONDS", 0.0)
    monkeypatch.setattr("switchyard_worker.parent.health.machine.SECONDS_BETWEEN_PROBES", 0.1)
    monkeypatch.setattr("switchyard_worker.parent.receive.loop.HOLD_SECONDS", 0.1)
    ordinary, left = harness.leases.claim, MOST_BUGS_IN_A_ROW + 1

    def without_threads_for_a_while(*args: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            raise RuntimeError("can't start new thread")
        return ordinary(*args, **named)

    monkeypatch.setattr(harness.leases, "claim", without_threads_for_a_while)
    for number in range(3):
        harness.add_task(f"t{number}", max_attempts=1)

    harness.work(until=harness.settled, seconds=60)

    tasks = list(harness.memory.state.tasks.values())
    assert {(task.state, task.attempt) for task in tasks} == {(TaskState.COMPLETED, 1)}
