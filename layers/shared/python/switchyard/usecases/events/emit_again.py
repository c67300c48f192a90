"""Emits a settled task's stored event again: its worker may have ended before it did."""

from collections.abc import Mapping, Sequence

from switchyard.domain.errors import MissingBlob
from switchyard.domain.ids import TaskRef
from switchyard.domain.jobs.chunks import AddedTasks, added_number
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.ports import Payloads, TaskGraph
from switchyard.usecases.events import job_events, task_events
from switchyard.usecases.events.emitting import Emitter


def emit_added(relay: Task, *, graph: TaskGraph, payloads: Payloads, emitter: Emitter) -> None:
    """Emit the event of a chunk again, with the same id and time. `relay` is the chunk's.

    If its content has expired, it cannot be emitted any more.
    """
    try:
        added = AddedTasks.of(payloads.read(relay.ref))
    except MissingBlob:
        return
    refs = [relay.ref.job.task(task_id) for task_id in added.task_ids]
    if not refs:  # a chunk of relays
        return
    tasks = graph.find_many(refs)
    emitted = job_events.tasks_added(
        relay.ref.job,
        added,
        number=added_number(relay.ref.task_id),
        tasks=[tasks[ref.task_id] for ref in refs],
        payloads=_given(refs, payloads),
    )
    emitter.emit(emitted)


def _given(refs: Sequence[TaskRef], payloads: Payloads) -> Mapping[str, Payload]:
    try:
        return payloads.read_many(refs)
    except MissingBlob:
        return {ref.task_id: _what_is_left(ref, payloads) for ref in refs}


def _what_is_left(ref: TaskRef, payloads: Payloads) -> Payload:
    """Read the payload; if its content has expired, the event is emitted without it."""
    try:
        return payloads.read(ref)
    except MissingBlob:
        return Payload()


def emit_again(task: Task, *, payloads: Payloads, emitter: Emitter) -> str | None:
    """Emit the event of a settled task again, with the same id and time.

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
