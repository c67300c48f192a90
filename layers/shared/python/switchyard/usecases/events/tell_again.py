"""Tells a settled task's stored event again: whoever settled it may have died before telling."""

from switchyard.domain.errors import MissingBlob
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Task
from switchyard.ports import Payloads
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter


def tell_again(task: Task, *, payloads: Payloads, emitter: Emitter) -> str | None:
    """Under the same id and at the same time as before.

    An output that has expired is left out rather than the event: return what is missing.
    """
    output, missing = _output(task, payloads)
    emitter.emit(task_events.settled(task, output=output))
    return missing


def _output(task: Task, payloads: Payloads) -> tuple[Json, str | None]:
    if task.state is not TaskState.COMPLETED:
        return None, None
    try:
        return payloads.read(task.ref).output, None
    except MissingBlob as problem:
        return None, str(problem)
