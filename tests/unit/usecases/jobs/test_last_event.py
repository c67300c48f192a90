"""The last event of a task, as its item in the state table implies it."""

from typing import Any

import pytest

from switchyard.domain.states import TaskState
from switchyard.usecases.jobs.last_event import LastEvent, last_event
from tests.builders import a_task

TIMES: Any = {"ready_at_ms": 1, "started_at_ms": 2}


@pytest.mark.parametrize(
    ("state", "attempt", "emitted"),
    [
        (TaskState.WAITING, 0, None),
        (TaskState.READY, 0, LastEvent("Task Pending", 1)),
        (TaskState.QUEUED, 0, LastEvent("Task Pending", 1)),
        (TaskState.PROCESSING, 1, LastEvent("Task Processing Started", 2)),
        (TaskState.QUEUED, 1, LastEvent("Task Processing Failed", 2)),
        (TaskState.COMPLETED, 1, LastEvent("Task Completed", 3)),
        (TaskState.FAILED, 3, LastEvent("Task Failed", 3)),
        (TaskState.TIMED_OUT, 1, LastEvent("Task Timeout", 3)),
        (TaskState.SKIPPED, 0, LastEvent("Task Skipped", 3)),
        (TaskState.CANCELLED, 0, LastEvent("Task Cancelled", 3)),
    ],
)
def test_the_state_implies_the_last_event(
    state: TaskState, attempt: int, emitted: LastEvent | None
) -> None:
    settled: Any = {"settled_at_ms": 3} if state.settled else {}
    assert last_event(a_task(state=state, attempt=attempt, **TIMES, **settled)) == emitted
