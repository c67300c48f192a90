"""The dispatch queue, in memory."""

from collections import deque
from collections.abc import Sequence

from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import TaskRun


class MemoryDispatchQueue:
    def __init__(self) -> None:
        self.refs: deque[TaskRun | JobRef] = deque()

    def send(self, refs: Sequence[TaskRun | JobRef]) -> None:
        self.refs.extend(refs)
