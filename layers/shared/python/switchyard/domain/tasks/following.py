"""Which edges are to be followed together once tasks have settled."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.ids import ADDED_PREFIX, END
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task

EDGES_AT_ONCE: Final = 500  # a second or two of writes: between two lots one looks at the clock
EDGES_OF_A_CHUNK: Final = 10  # reading and telling who was added takes about as long

Tokens = dict[str, bool]
"""What a task need not wait for any more, and whether that completed."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A settled task, and those that wait for it."""

    task: Task
    dependents: tuple[str, ...]

    @property
    def size(self) -> int:
        """In edges: how much is to be done about it."""
        tells = self.task.ref.task_id.startswith(ADDED_PREFIX)
        return max(len(self.dependents), EDGES_OF_A_CHUNK if tells else 1)


def lots(followed: Iterable[Followed]) -> Iterator[list[Followed]]:
    """As many as have about `EDGES_AT_ONCE` edges together, in order."""
    lot: list[Followed] = []
    room = EDGES_AT_ONCE
    for one in followed:
        lot.append(one)
        room -= one.size
        if room <= 0:
            yield lot
            lot, room = [], EDGES_AT_ONCE
    if lot:
        yield lot


def tokens_by_child(followed: Sequence[Followed]) -> dict[str, Tokens]:
    """All that is to be taken out of one task's `waiting_on`, so that it is written once.

    `__end__` comes after any number of tasks, whatever became of them: none is remembered.
    """
    tokens: defaultdict[str, Tokens] = defaultdict(dict)
    for one in followed:
        completed = one.task.state is TaskState.COMPLETED
        for child in one.dependents:
            tokens[child][one.task.token] = completed or child == END
    return dict(tokens)


def is_free(task: Task) -> bool:
    """It waits, and for nothing any more: somebody has to decide it."""
    return task.state is TaskState.WAITING and not task.waiting_on


def is_left_to_newer(task: Task) -> bool:
    """It waits for nothing any more, and only a newer version knows what it may do now."""
    return task.state is TaskState.UNKNOWN and not task.waiting_on


def settled_by_following(task: Task) -> bool:
    """Settled, by nobody's work, and not yet followed itself.

    What a worker settled is left to its own event; what was followed before is left alone: else
    every event of a skipped chain would tell the rest of the chain again.
    """
    by_following = task.ref.hidden or task.state in {TaskState.SKIPPED, TaskState.CANCELLED}
    return task.state.settled and by_following and task.due_at_ms is not None
