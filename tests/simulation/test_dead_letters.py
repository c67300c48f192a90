"""A dead letter for a task in each state, in a calm yard: none runs twice, none is lost."""

import contextlib
from collections.abc import Iterator

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from tests.builders import JOB, a_submission
from tests.simulation.checker import violations
from tests.simulation.one_task import OneWay
from tests.simulation.run import silence
from tests.simulation.weather import CALM
from tests.simulation.yard import Yard

WORK_SECONDS = 30.0
ATTEMPTS = 3
LONGEST_IDLE_SECONDS = 3600.0


@pytest.fixture
def yard() -> Iterator[Yard]:
    with silence(), contextlib.closing(Yard(1, weather=CALM, script=OneWay(WORK_SECONDS))) as yard:
        yield yard


def submitted(yard: Yard, state: TaskState) -> TaskRef:
    """The only task of a job, once it is there."""
    yard.submit(a_submission({"only": []}))
    yard.world.run_until(lambda: _state(yard) is state, look_every=0.1, at_most=600.0)
    assert _state(yard) is state
    return _only(yard)


def _only(yard: Yard) -> TaskRef:
    (ref,) = (task for task in yard.history.tasks if not task.hidden)
    return ref


def _state(yard: Yard) -> TaskState | None:
    found = [v[-1].new.state for t, v in yard.history.tasks.items() if not t.hidden]
    return found[0] if found else None


def letter(yard: Yard, ref: TaskRef) -> None:
    body = TaskMessage.to(ref, run=1).model_dump_json(by_alias=True)
    yard.cloud.dead_letters.put(body)


def ended(yard: Yard) -> TaskState | None:
    yard.settle()
    return _state(yard)


def told(yard: Yard, words: str) -> int:
    return sum(words in line.what for line in yard.world.trace.lines)


@pytest.mark.parametrize("state", [TaskState.PROCESSING, TaskState.COMPLETED])
def test_a_letter_for_a_task_that_runs_or_is_done_changes_nothing(
    yard: Yard, state: TaskState
) -> None:
    letter(yard, submitted(yard, state))
    assert ended(yard) is TaskState.COMPLETED
    assert violations(yard) == []
    assert len(yard.children) == 1
    assert told(yard, "dead letter: ") == 1


def test_a_letter_for_a_task_whose_workers_died_is_another_message(yard: Yard) -> None:
    """Its own message is gone: only the letter, or much later the sweeper, brings it back."""
    ref = submitted(yard, TaskState.PROCESSING)
    _kill_the_worker_of_attempt(yard, 1)
    yard.cloud.tasks.messages.clear()
    yard.world.after(60.0, letter, yard, ref)
    assert ended(yard) is TaskState.COMPLETED
    assert violations(yard) == []
    assert [child.attempt for child in yard.children] == [1, 2]
    assert told(yard, "action='send again'") == 1


def test_a_letter_for_a_task_without_attempts_left_fails_it_once(yard: Yard) -> None:
    ref = submitted(yard, TaskState.PROCESSING)
    for attempt in range(1, ATTEMPTS + 1):
        _kill_the_worker_of_attempt(yard, attempt)
    yard.cloud.tasks.messages.clear()
    yard.world.after(60.0, letter, yard, ref)
    assert ended(yard) is TaskState.FAILED
    assert violations(yard) == []
    settled = yard.history.tasks[ref][-1].new
    assert settled.outcome is not None
    assert settled.outcome.source == "dlq"


def test_a_letter_for_a_task_that_nobody_knows_is_put_aside(yard: Yard) -> None:
    letter(yard, JOB.task("nobodys"))
    yard.settle()
    (key,) = (key for key in yard.cloud.s3.objects if key.startswith("quarantine/"))
    assert b"nobodys" in yard.cloud.s3.objects[key]
    assert not yard.cloud.dead_letters.messages


def _kill_the_worker_of_attempt(yard: Yard, attempt: int) -> None:
    """Once it runs."""
    yard.world.run_until(
        lambda: len(yard.children) == attempt, look_every=1.0, at_most=LONGEST_IDLE_SECONDS
    )
    yard.children[-1].node.kill("on purpose")
