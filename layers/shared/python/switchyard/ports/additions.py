"""How tasks join a job under way."""

from collections.abc import Collection
from typing import Protocol

from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.chunks import Chunk, Surroundings


class TaskAdditions(Protocol):
    def surroundings(self, ref: JobRef, names: Collection[str]) -> Surroundings:
        """The job, its `__end__`, and those of `names` that are tasks of it, read consistently.

        Raise `UnknownJob`.
        """

    def add(self, chunk: Chunk) -> bool:
        """Everything of it in one write; `False` if something is not as it was read.

        To add the same chunk again is answered as if it were the first time. So a lost answer does
        no harm; `AnswerLost` says that nobody knows, and that asking again is safe.
        """
