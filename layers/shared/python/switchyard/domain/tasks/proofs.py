"""What a task shows about a write whose answer was lost, or that was asked for twice.

Only owners keep the fence when they change a task; everybody else raises it. So a state under the
fence of a lease was written by its owner, and an owner's name stands for one claim.
"""

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, Task


def holds(lease: Lease, task: Task) -> bool:
    """The condition of everything that an owner writes."""
    return task.state is TaskState.PROCESSING and _is_of(lease, task)


def may_be_given_up(task: Task, read: Task, *, now_ms: int) -> bool:
    """Nobody holds it, and nobody handed it back since it was read: that keeps the fence."""
    lapsed = task.state is TaskState.PROCESSING and task.lease_until_ms < now_ms
    idle = task.state in {TaskState.READY, TaskState.QUEUED}
    return (lapsed or idle) and (task.fence, task.state, task.attempt) == (
        read.fence,
        read.state,
        read.attempt,
    )


def claimed(task: Task, *, owner: str, now_ms: int) -> bool:
    """Whether this owner's claim took the lease that still runs."""
    running = task.state is TaskState.PROCESSING and task.lease_until_ms >= now_ms
    return running and task.owner == owner


def renewed(task: Task, lease: Lease, *, lease_until_ms: int) -> bool:
    return holds(lease, task) and task.lease_until_ms >= lease_until_ms


def settled(task: Task, lease: Lease, state: TaskState) -> bool:
    return task.state is state and _is_of(lease, task)


def released(task: Task, lease: Lease) -> bool:
    return task.state is TaskState.QUEUED and task.fence == lease.fence


def given_up(task: Task, read: Task, state: TaskState) -> bool:
    """Two who give up the same task tell the same event: either may count it as its own."""
    return task.state is state and (task.fence, task.owner) == (read.fence + 1, read.owner)


def unchanged(task: Task, read: Task) -> bool:
    """The condition of whoever asks for its cancellation."""
    return (task.state, task.fence) == (read.state, read.fence)


def flagged(task: Task, read: Task) -> bool:
    return task.cancel_requested and unchanged(task, read)


def _is_of(lease: Lease, task: Task) -> bool:
    return (task.fence, task.owner) == (lease.fence, lease.owner)
