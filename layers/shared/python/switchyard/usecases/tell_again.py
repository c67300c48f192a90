"""Tells a settled task's stored event again: whoever settled it may have died before telling."""

from switchyard.domain.states import TaskState
from switchyard.domain.task import Task
from switchyard.ports import Payloads
from switchyard.usecases import task_events
from switchyard.usecases.emitting import Emitter


def tell_again(task: Task, *, payloads: Payloads, emitter: Emitter) -> None:
    """Under the same id and at the same time as before."""
    completed = task.state is TaskState.COMPLETED
    output = payloads.read(task.ref).output if completed else None
    emitter.emit(task_events.settled(task, output=output))
