"""Tells a settled task's stored event again: whoever settled it may have died before telling."""

from switchyard.domain.errors import MissingBlob
from switchyard.domain.states import TaskState
from switchyard.domain.task import Json, Task
from switchyard.ports import Payloads
from switchyard.usecases import task_events
from switchyard.usecases.emitting import Emitter


def tell_again(task: Task, *, payloads: Payloads, emitter: Emitter) -> None:
    """Under the same id and at the same time as before; without an output that has expired."""
    emitter.emit(task_events.settled(task, output=_output(task, payloads)))


def _output(task: Task, payloads: Payloads) -> Json:
    if task.state is not TaskState.COMPLETED:
        return None
    try:
        return payloads.read(task.ref).output
    except MissingBlob:
        return None
