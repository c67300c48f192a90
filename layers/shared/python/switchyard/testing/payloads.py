"""Inputs and outputs, in memory."""

import json
from collections.abc import Mapping, Sequence

from switchyard.domain.errors import MustNotStart, TooMuch
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Payload
from switchyard.testing.state import MemoryState


class MemoryPayloads:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def read(self, ref: TaskRef) -> Payload:
        return self._state.payloads.get(ref, Payload())

    def read_to_start(self, ref: TaskRef) -> Payload:
        with self._state.lock:
            job = self._state.jobs.get(ref.job)
            if job is not None and job.being_cancelled:
                raise MustNotStart(ref.request_id)
            return self.read(ref)

    def read_what_is_left(self, ref: TaskRef) -> Payload:
        return self.read(ref)

    def read_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Payload]:
        return {ref.task_id: self.read(ref) for ref in refs}

    def outputs(
        self, job: JobRef, task_ids: Sequence[str], *, max_bytes: int | None = None
    ) -> Mapping[str, Json]:
        found: dict[str, Json] = {}
        size = 0
        for task_id in task_ids:
            if not self._completed(job.task(task_id)):
                continue
            found[task_id] = self._state.payloads[job.task(task_id)].output
            if max_bytes is not None:
                size += len(json.dumps(found[task_id], ensure_ascii=False).encode())
                if size > max_bytes:
                    raise TooMuch(max_bytes)
        return found

    def _completed(self, ref: TaskRef) -> bool:
        task = self._state.tasks.get(ref)
        return task is not None and task.state is TaskState.COMPLETED
