"""A dead letter for a task in each state, in a calm harness: none runs twice, none is lost."""

import contextlib
from collections.abc import Iterator

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from tests.builders import JOB, a_submission
from tests.simulation.checker import violations
from tests.simulation.harness import Harness
from tests.simulation.run import silence
from tests.simulation.scripted.one_task import OneWay
from tests.simulation.weather import CALM

WORK_SECONDS = 30.0
ATTEMPTS = 3
LONGEST_IDLE_SECONDS = 3600.0


@pytest.fixture
def harness() -> Iterator[Harness]:
    with (
        silence(),
        contextlib.closing(Harness(1, weather=CALM, script=OneWay(WORK_SECONDS))) as harness,
    ):
        yield harness


def submitted(harness: Harness, state: TaskState) -> TaskRef:
    """The only task of a job, once it is there."""
    harness.submit(a_submission({"only": []}))
    harness.world.run_until(lambda: _state(harness) is state, look_every=0.1, at_most=600.0)
    assert _state(harness) is state
    return _only(harness)


def _only(harness: Harness) -> TaskRef:
    (ref,) = (task for task in harness.history.tasks if not task.hidden)
    return ref


def _state(harness: Harness) -> TaskState | None:
    found = [v[-1].new.state for t, v in harness.history.tasks.items() if not t.hidden]
    return found[0] if found else None


def letter(harness: Harness, ref: TaskRef) -> None:
    body = TaskMessage.to(ref, run=1).model_dump_json(by_alias=True)
    harness.cloud.dead_letters.put(body)


def ended(harness: Harness) -> TaskState | None:
    harness.settle()
    return _state(harness)


def emitted(harness: Harness, words: str) -> int:
    return sum(words in line.what for line in harness.world.trace.lines)


@pytest.mark.parametrize("state", [TaskState.PROCESSING, TaskState.COMPLETED])
def test_a_dead_letter_for_a_task_that_runs_or_is_done_changes_nothing(
    harness: Harness, state: TaskState
) -> None:
    letter(harness, submitted(harness, state))
    assert ended(harness) is TaskState.COMPLETED
    assert violations(harness) == []
    assert len(harness.children) == 1
    assert emitted(harness, "dead letter: ") == 1


def test_a_dead_letter_for_a_task_whose_workers_died_is_sent_again(harness: Harness) -> None:
    """Only the dead letter, or much later the sweeper, brings the task back."""
    ref = submitted(harness, TaskState.PROCESSING)
    _kill_the_worker_of_attempt(harness, 1)
    harness.cloud.tasks.messages.clear()
    harness.world.after(60.0, letter, harness, ref)
    assert ended(harness) is TaskState.COMPLETED
    assert violations(harness) == []
    assert [child.attempt for child in harness.children] == [1, 2]
    assert emitted(harness, "action='send again'") == 1


def test_a_dead_letter_for_a_task_without_attempts_left_fails_it_once(harness: Harness) -> None:
    ref = submitted(harness, TaskState.PROCESSING)
    for attempt in range(1, ATTEMPTS + 1):
        _kill_the_worker_of_attempt(harness, attempt)
    harness.cloud.tasks.messages.clear()
    harness.world.after(60.0, letter, harness, ref)
    assert ended(harness) is TaskState.FAILED
    assert violations(harness) == []
    settled = harness.history.tasks[ref][-1].new
    assert settled.outcome is not None
    assert settled.outcome.source == "dlq"


def test_a_dead_letter_without_a_task_is_parked(harness: Harness) -> None:
    letter(harness, JOB.task("nobodys"))
    harness.settle()
    (key,) = (key for key in harness.cloud.s3.objects if key.startswith("parked/"))
    assert b"nobodys" in harness.cloud.s3.objects[key]
    assert not harness.cloud.dead_letters.messages


def _kill_the_worker_of_attempt(harness: Harness, attempt: int) -> None:
    """Once it runs."""
    harness.world.run_until(
        lambda: len(harness.children) == attempt, look_every=1.0, at_most=LONGEST_IDLE_SECONDS
    )
    harness.children[-1].node.kill("on purpose")
