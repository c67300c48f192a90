"""Changes of a task's key in the ready index; none changes a state. `docs/protocol.md` says why.

What makes a task ready, claims it or ends it writes or removes the key itself.
"""

from typing import Final

from switchyard.domain.scheduling.ready import (
    READY_KEY,
    Partition,
    group_of,
    may_start_at_ms,
    ready_key,
    ready_partition,
)
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import (
    AnyOf,
    Guard,
    NoItem,
    OneOf,
    Transition,
    TransitionRefused,
    at_least,
    below,
    equal,
    same,
)

_NOT_RUNNING: Final = tuple(state for state in TaskState if state is not TaskState.PROCESSING)


def enter_ready(task: Task, *, now_ms: int) -> Transition | TransitionRefused[Task]:
    """Give a task its key that may run and has none, or another; refused if it may not."""
    from_ms = may_start_at_ms(task, now_ms)
    if from_ms is None:
        return TransitionRefused(f"nobody may claim it: {task.state.value.lower()}", task)
    over = (below("lease_until_ms", now_ms),) if task.state is TaskState.PROCESSING else ()
    key = ready_key(task, from_ms)
    return Transition(
        name="enter_ready",
        guard=(*_as_read(task), *over),
        sets=key,
        already=(*_as_read(task), *(equal(name, value) for name, value in key.items())),
    )


def leave_ready(task: Task) -> Transition:
    """Remove the key of a task that has settled, or runs: it must not be proposed."""
    return Transition(
        name="leave_ready",
        guard=(*_as_read(task), *_key_as_read(task)),
        removes=READY_KEY,
    )


def move_ready(task: Task, partition: Partition) -> Transition:
    """Move a task's key to another partition: to where it hides nobody, or back."""
    moved = ready_partition(group_of(task.queue), task.ref.tenant, partition)
    return Transition(
        name="move_ready",
        guard=(*_as_read(task), *_key_as_read(task)),
        sets={"ready_in": moved},
        already=(*_as_read(task), equal("ready_in", moved)),
    )


def stay_idle(run: int) -> Transition:
    """Write nothing, while the place of a run is taken away that nobody runs."""
    others = (below("run", run),), (at_least("run", run + 1),)
    return Transition(
        name="stay_idle",
        guard=(AnyOf(((NoItem(),), (OneOf("state", _NOT_RUNNING),), *others)),),
    )


def _as_read(task: Task) -> Guard:
    return (equal("state", task.state), equal("fence", task.fence))


def _key_as_read(task: Task) -> Guard:
    return (same("ready_in", task.ready_in), same("ready_order", task.ready_order))
