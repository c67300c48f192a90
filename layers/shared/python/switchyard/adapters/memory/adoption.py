"""Bare tasks, in memory."""

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain.jobs.adoption import Adoption
from switchyard.domain.tasks.task import Payload


class MemoryTaskAdoption:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def adopt(self, adoption: Adoption) -> bool:
        task = adoption.task
        with self._state.lock:
            if task.ref in self._state.tasks:
                return False
            self._state.tasks[task.ref] = task
            self._state.payloads[task.ref] = Payload(input=adoption.input, context=adoption.context)
            return True
