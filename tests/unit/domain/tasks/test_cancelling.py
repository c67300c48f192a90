"""What a cancellation does to a task, in every state."""

import pytest

from switchyard.domain.ids import END
from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.cancelling import Flag, Leave, Settle, decide_cancel
from tests.builders import a_task

DECISIONS = {
    TaskState.WAITING: Flag,
    TaskState.PROCESSING: Flag,
    TaskState.READY: Settle,
    TaskState.QUEUED: Settle,
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
