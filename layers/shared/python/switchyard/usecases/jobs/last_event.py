"""The last event of a task, as its control item implies it; the log is not read for this.

| state | last event | when |
|---|---|---|
| WAITING | none yet, or Task Expanded of a fan-out | it became ready |
| READY, QUEUED before the first attempt | Task Pending | it became ready |
| HELD | Task Held | it became ready |
| PROCESSING | Task Processing Started | it was claimed; heartbeats leave no trace in the item |
| QUEUED after an attempt | Task Processing Failed | that attempt began: its end is not stored |
| settled | its own | it was settled |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.events import (
    Properties,
    TaskCancelled,
    TaskCompleted,
    TaskExpanded,
    TaskFailed,
    TaskHeld,
    TaskPending,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskSkipped,
    TaskTimeout,
)
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task

_SETTLED: Final[Mapping[TaskState, type[Properties]]] = {
    TaskState.COMPLETED: TaskCompleted,
    TaskState.FAILED: TaskFailed,
    TaskState.TIMED_OUT: TaskTimeout,
    TaskState.SKIPPED: TaskSkipped,
    TaskState.CANCELLED: TaskCancelled,
}


@dataclass(frozen=True, slots=True)
class LastEvent:
    event_type: str
    at_ms: int | None


def last_event(task: Task) -> LastEvent | None:
    if task.fans_out and not task.state.settled:
        expanded = LastEvent(TaskExpanded.event_type, task.ready_at_ms)
        return None if task.child_count is None else expanded
    match task.state:
        case TaskState.WAITING | TaskState.UNKNOWN:
            return None
        case TaskState.HELD:
            return LastEvent(TaskHeld.event_type, task.ready_at_ms)
        case TaskState.READY:
            return LastEvent(TaskPending.event_type, task.ready_at_ms)
        case TaskState.QUEUED if task.attempt == 0:
            return LastEvent(TaskPending.event_type, task.ready_at_ms)
        case TaskState.QUEUED:
            return LastEvent(TaskProcessingFailed.event_type, task.started_at_ms)
        case TaskState.PROCESSING:
            return LastEvent(TaskProcessingStarted.event_type, task.started_at_ms)
    return LastEvent(_SETTLED[task.state].event_type, task.settled_at_ms)
