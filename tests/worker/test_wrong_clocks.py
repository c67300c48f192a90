"""Workers whose wall clocks are minutes off: nothing is stolen, failed or delayed by them."""

import re
from collections.abc import Sequence

import pytest

from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Task
from tests.worker.clock_stage import (
    PATIENCE_SECONDS,
    POLL_SECONDS,
    ClockStage,
    all_are,
    all_settled,
)

FIVE_MINUTES = 300.0
TASKS = 4
TASK_SECONDS = 20.0
"""For another worker to start, on a slow machine, and to receive each message several times."""
REDELIVERY_SECONDS = 2.0
RENEWED_SECONDS = 12.0
"""For a lease to be renewed several times, on a slow machine."""
A_WHILE_MS = 20_000
"""More than a lease is renewed by while a task runs, and far less than a clock is wrong by."""
SHORT_LEASE_SECONDS = 6.0
A_SWEEP_LATER = SHORT_LEASE_SECONDS + due.AFTER_LEASE / 1000 + POLL_SECONDS + 5.0
"""The bound of I9, with a sweep every half second and 5 s for slow machines."""


def undisturbed(tasks: Sequence[Task]) -> bool:
    """Whether each was claimed once, and completed."""
    return {(task.state, task.fence) for task in tasks} == {(TaskState.COMPLETED, 1)}


@pytest.mark.parametrize(
    ("holder", "other"),
    [
        (-FIVE_MINUTES, FIVE_MINUTES),
        pytest.param(-FIVE_MINUTES, 0.0, marks=pytest.mark.long),
        pytest.param(0.0, FIVE_MINUTES, marks=pytest.mark.long),
    ],
)
def test_tasks_that_are_renewed_are_neither_stolen_nor_failed(
    stage: ClockStage, holder: float, other: float
) -> None:
    """Every message is delivered again and again to another worker while the tasks run."""
    stage.start(ahead_seconds=holder, task_seconds=TASK_SECONDS, slots=TASKS)  # receives no more
    stage.harness.submit(TASKS, max_attempts=1)
    stage.until(all_are(TaskState.PROCESSING))
    receiver = stage.start(ahead_seconds=other)
    receiver.wait_until_started()

    def redeliver() -> None:
        stage.sweep()
        stage.harness.send(stage.harness.tasks())

    stage.until(all_settled, meanwhile=redeliver, every_seconds=REDELIVERY_SECONDS)

    assert undisturbed(stage.harness.tasks()), stage.story
    assert "task is not ours to run" in receiver.log


def test_a_killed_workers_task_is_taken_over_within_a_lease_a_sweep_and_a_poll(
    stage: ClockStage,
) -> None:
    killed = stage.start(
        ahead_seconds=FIVE_MINUTES,
        task_seconds=PATIENCE_SECONDS,
        lease_seconds=SHORT_LEASE_SECONDS,
    )
    stage.harness.submit(1)
    stage.until(all_are(TaskState.PROCESSING))
    successor = stage.start()
    successor.wait_until_started()
    killed.kill()

    seconds = stage.until(lambda tasks: tasks[0].attempt == 2, meanwhile=stage.sweep)

    assert seconds <= A_SWEEP_LATER


def test_what_a_fast_worker_hands_back_does_not_wait_for_its_clock(stage: ClockStage) -> None:
    leaving = stage.start(ahead_seconds=FIVE_MINUTES, task_seconds=PATIENCE_SECONDS)
    stage.harness.submit(1)
    stage.until(all_are(TaskState.PROCESSING))
    successor = stage.start()
    successor.wait_until_started()
    leaving.ask_to_stop()

    assert stage.until(all_settled) <= A_SWEEP_LATER


def test_clocks_that_are_set_while_tasks_run_change_nothing(stage: ClockStage) -> None:
    """One worker's clock is set back and another's forward; each has one of the tasks."""
    back, forward = (stage.start(task_seconds=RENEWED_SECONDS, slots=1) for _ in range(2))
    for worker in (back, forward):
        worker.wait_until_started()  # or one might have done its task before the other is there
    stage.harness.submit(2, max_attempts=1)
    stage.until(all_are(TaskState.PROCESSING))
    assert len({task.owner for task in stage.harness.tasks()}) == 2
    began_ms = min(task.lease_until_ms for task in stage.harness.tasks())

    back.set_clock(-FIVE_MINUTES)
    forward.set_clock(FIVE_MINUTES)
    stage.until(lambda tasks: all(t.lease_until_ms >= began_ms + 2_000 for t in tasks))

    leases = [task.lease_until_ms for task in stage.harness.tasks()]
    assert max(leases) < began_ms + A_WHILE_MS
    stage.until(all_settled, meanwhile=stage.sweep)
    assert undisturbed(stage.harness.tasks()), stage.story


@pytest.mark.parametrize(
    ("ahead", "how"), [(-310.0, r"3\d\d s behind"), (900.0, r"\d\d\d s ahead of")]
)
def test_a_worker_does_not_start_with_a_clock_that_aws_would_refuse(
    stage: ClockStage, ahead: float, how: str
) -> None:
    worker = stage.start(ahead_seconds=ahead)
    stage.harness.submit(1)

    assert worker.exit_code() == 3
    assert re.search(f"This machine's clock is {how} AWS's time", worker.log)
    assert [task.attempt for task in stage.harness.tasks()] == [0]
