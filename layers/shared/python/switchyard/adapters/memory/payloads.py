"""Inputs and outputs, in memory."""

from collections.abc import Mapping, Sequence

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Payload


class MemoryPayloads:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def read(self, ref: TaskRef) -> Payload:
        return self._state.payloads.get(ref, Payload())

    def read_what_is_left(self, ref: TaskRef) -> Payload:
        return self.read(ref)

    def read_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Payload]:
        return {ref.task_id: self.read(ref) for ref in refs}

    def outputs(self, job: JobRef, task_ids: Sequence[str]) -> Mapping[str, Json]:
        return {
            task_id: self._state.payloads[job.task(task_id)].output
            for task_id in task_ids
            if self._completed(job.task(task_id))
        }

    def _completed(self, ref: TaskRef) -> bool:
        task = self._state.tasks.get(ref)
        return task is not None and task.state is TaskState.COMPLETED
