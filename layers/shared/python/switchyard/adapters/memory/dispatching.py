"""The dispatch queue, in memory."""

from collections import deque
from collections.abc import Sequence

from switchyard.domain.ids import JobRef, TaskRef


class MemoryDispatchQueue:
    def __init__(self) -> None:
        self.refs: deque[TaskRef | JobRef] = deque()

    def send(self, refs: Sequence[TaskRef | JobRef]) -> None:
        self.refs.extend(refs)
