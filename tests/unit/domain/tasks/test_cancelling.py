"""What a cancellation does to a task, in every state."""

import pytest

from switchyard.domain.ids import END
from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.cancellation import Flag, Leave, Settle, decide_cancel
from switchyard.domain.tasks.transitions import cancel
from switchyard.domain.transition import TransitionRefused
from tests.builders import NOW_MS, a_task

DECISIONS = {
    TaskState.WAITING: Flag,
    TaskState.PROCESSING: Flag,
    TaskState.READY: Settle,
    TaskState.QUEUED: Settle,
    TaskState.HELD: Settle,
    TaskState.UNKNOWN: Leave,
    **dict.fromkeys(SETTLED, Leave),
}


@pytest.mark.parametrize("state", TaskState)
def test_every_state_is_settled_flagged_or_left(state: TaskState) -> None:
    decision = decide_cancel(a_task(state=state))
    assert isinstance(decision, DECISIONS[state])
    assert decision.reason


@pytest.mark.parametrize("state", TaskState)
def test_what_is_flagged_is_not_flagged_again(state: TaskState) -> None:
    decision = decide_cancel(a_task(state=state, cancel_requested=True))
    expected = Settle if DECISIONS[state] is Settle else Leave
    assert isinstance(decision, expected)


@pytest.mark.parametrize("task_id", [END, "__relay-1", "__added-1"])
def test_hidden_tasks_are_left(task_id: str) -> None:
    assert isinstance(decide_cancel(a_task(task_id, state=TaskState.WAITING)), Leave)


BECOMES = {
    TaskState.WAITING: "flag",
    TaskState.READY: "give_up",
    TaskState.QUEUED: "give_up",
    TaskState.HELD: "give_up",
    TaskState.PROCESSING: "flag",
    TaskState.UNKNOWN: "in a state of a newer version",
    **{state: f"{state.lower()} already" for state in sorted(SETTLED)},
}


@pytest.mark.parametrize(("state", "expected"), BECOMES.items())
def test_cancel_settles_flags_or_says_why_not(state: TaskState, expected: str) -> None:
    answer = cancel(a_task(state=state), now_ms=NOW_MS)
    assert (answer.reason if isinstance(answer, TransitionRefused) else answer.name) == expected


def test_cancel_is_asked_of_every_state() -> None:
    assert BECOMES.keys() == set(TaskState)


def test_a_task_that_is_flagged_already_is_refused() -> None:
    answer = cancel(a_task(state=TaskState.WAITING, cancel_requested=True), now_ms=NOW_MS)
    assert isinstance(answer, TransitionRefused)
    assert answer.reason == "flagged already"
