"""What is under way in a stage, of all its tenants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsettledTask:
    ref: TaskRef
    state: TaskState
    ready_at_ms: int | None
    started_at_ms: int | None


@dataclass(frozen=True, slots=True)
class PageOfUnsettled:
    tasks: tuple[UnsettledTask, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class Unsettled(Protocol):
    """Lists every task with a due time: what may run, what runs, and what has settled but was not
    followed yet. It changes nothing and decides nothing.
    """

    def page(self, shard: int, *, limit: int, cursor: str | None) -> PageOfUnsettled:
        """Those in one of the `DUE_SHARDS`, `limit` at most and perhaps none though more follow.

        A page may lag behind: whoever needs to be sure reads the tasks.
        """

    def read(self, refs: Sequence[TaskRef]) -> tuple[Task, ...]:
        """The tasks as they are, of any jobs and in no order; those that are gone are left out.

        No ref may be there twice.
        """
