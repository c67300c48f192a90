"""Decides what becomes of a task when all its parents have settled."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from switchyard.domain.ids import ADDED_PREFIX, ANY_TASK_ID, END
from switchyard.domain.states import FAILURES, Rule, TaskState
from switchyard.domain.tasks.task import Outcome, Task

EDGES_AT_ONCE: Final = 500
EDGES_AT_FIRST: Final = 100  # as many as one parent may have
BATCH_SECONDS: Final = 2.0  # between two batches one looks at the clock
EDGES_OF_A_CHUNK: Final = 10  # reading a chunk and emitting its event takes about as long

DISPATCHER: Final = "dispatcher"
"""The source of an outcome that the dispatcher decided, without a run."""

Tokens = dict[str, bool]
"""The edge tokens that a task need not wait for any more, and whether each parent completed."""


@dataclass(frozen=True, slots=True)
class SettledParent:
    """A settled task, and those that wait for it."""

    task: Task
    dependents: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return the work that the parent causes, in edges."""
        reports = self.task.ref.task_id.startswith(ADDED_PREFIX)
        return max(len(self.dependents), EDGES_OF_A_CHUNK if reports else 1)


def take_batch(waiting: deque[SettledParent], *, edges: int) -> list[SettledParent]:
    """Remove about so many edges from the front; at least one parent, whatever it has."""
    batch = [waiting.popleft()]
    room = edges - batch[0].size
    while waiting and room > 0:
        batch.append(waiting.popleft())
        room -= batch[-1].size
    return batch


@dataclass(frozen=True, slots=True)
class Pace:
    """The time that one edge takes, by the last batch.

    A slow table gets small batches: one that does not end before the function does is lost, and
    its messages stay hidden for minutes.
    """

    seconds_per_edge: float = BATCH_SECONDS / EDGES_AT_FIRST

    @classmethod
    def of(cls, batch: Sequence[SettledParent], *, seconds: float) -> Self:
        return cls(max(0.0, seconds) / _edges_in(batch))

    @property
    def edges_at_once(self) -> int:
        """Return how many take `BATCH_SECONDS`, within limits."""
        if self.seconds_per_edge * EDGES_AT_ONCE <= BATCH_SECONDS:
            return EDGES_AT_ONCE
        return max(1, int(BATCH_SECONDS / self.seconds_per_edge))

    def seconds_for(self, parent: SettledParent) -> float:
        return parent.size * self.seconds_per_edge


def _edges_in(batch: Sequence[SettledParent]) -> int:
    return sum(parent.size for parent in batch)


def tokens_by_child(parents: Sequence[SettledParent]) -> dict[str, Tokens]:
    """Return the tokens to remove from each child's `waiting_on`, so that it is written once.

    `__end__` comes after any number of tasks, whatever became of them: none is remembered.
    """
    tokens: defaultdict[str, Tokens] = defaultdict(dict)
    for one in parents:
        completed = one.task.state is TaskState.COMPLETED
        for child in one.dependents:
            tokens[child][one.task.token] = completed or child == END
    return dict(tokens)


def is_free(task: Task) -> bool:
    """Return whether the task is waiting, but for nothing any more: then it has to be decided."""
    return task.state is TaskState.WAITING and not task.waiting_on


def is_left_to_newer(task: Task) -> bool:
    """Return whether nothing is left to wait for, in a state that only a newer version knows."""
    return task.state is TaskState.UNKNOWN and not task.waiting_on


def settled_by_following(task: Task) -> bool:
    """Return whether the task was settled without a run, and is not yet followed itself.

    What a worker settled is left to its own event; what was followed before is left alone: else
    every event of a skipped chain would follow the rest of the chain again.
    """
    by_following = (
        task.ref.hidden
        or task.state in {TaskState.SKIPPED, TaskState.CANCELLED}
        or (task.state is TaskState.FAILED and decided_without_run(task))
    )
    return task.state.settled and by_following and task.due_at_ms is not None


def decided_without_run(task: Task) -> bool:
    """Return whether the dispatcher ended the task when it decided whether it may run."""
    by_dispatcher = task.outcome is not None and task.outcome.source == DISPATCHER
    return by_dispatcher and task.kind is None and task.started_at_ms is None


MAX_NAMED: Final = 10

_WORDS: Final = re.compile(
    rf"did not complete: ({ANY_TASK_ID.pattern}(?:, {ANY_TASK_ID.pattern})*)(?: and (\d+) more)?"
)


@dataclass(frozen=True, slots=True)
class Shortfall:
    names: tuple[str, ...] = ()
    """The first few in alphabetical order."""
    more: int = 0

    @classmethod
    def of(cls, names: Iterable[str], others: Iterable[Self] = ()) -> Self:
        """Combine these names with the shortfalls of relays, which name their first few too."""
        emitted = list(others)
        named = sorted({*names, *(name for other in emitted for name in other.names)})
        unnamed = sum(other.more for other in emitted) + max(0, len(named) - MAX_NAMED)
        return cls(tuple(named[:MAX_NAMED]), unnamed)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the text that `str` wrote; any other text is an empty shortfall."""
        match = _WORDS.fullmatch(text)
        return cls(tuple(match[1].split(", ")), int(match[2] or 0)) if match else cls()

    def __str__(self) -> str:
        more = f" and {self.more} more" if self.more else ""
        return f"did not complete: {', '.join(self.names)}{more}"


FAILURE: Final = "failure"
"""The category of a relay's outcome when one of those it stands for failed or timed out."""


@dataclass(frozen=True, slots=True)
class Readiness:
    state: TaskState
    reason: str
    category: str | None = None
    none_completed: bool = False
    """Whether none of the tasks that a relay stands for completed."""

    @property
    def outcome(self) -> Outcome:
        return Outcome(
            state=self.state,
            error=self.reason,
            error_category=self.category,
            none_completed=self.none_completed,
            source=DISPATCHER if self.state in FAILURES else "worker",
        )


def decide_readiness(
    task: Task, parents: Mapping[str, Task], *, job_cancelled: bool = False
) -> Readiness:
    """Decide what becomes of the task; `parents` has those in `task.not_completed`.

    A task of a job that is being cancelled is treated as flagged, also before it is visited.
    """
    if task.ref.task_id == END:
        return Readiness(TaskState.COMPLETED, "every sink has settled")
    if task.ref.relay:
        return _passed_on(task, parents)
    if task.cancel_requested or job_cancelled:
        return Readiness(TaskState.CANCELLED, "cancellation was requested")
    if task.child_count is not None:
        return Readiness(TaskState.READY, "every item has settled")
    if _may_run(task, parents):
        return Readiness(TaskState.READY, f"{task.rule.value} holds")
    if task.rule in _UNMET:
        return Readiness(TaskState.SKIPPED, _UNMET[task.rule])
    return Readiness(TaskState.SKIPPED, str(_shortfall(task, parents)))


def _passed_on(relay: Task, parents: Mapping[str, Task]) -> Readiness:
    if not relay.not_completed:
        return Readiness(TaskState.COMPLETED, "everything it stands for completed")
    return Readiness(
        TaskState.NOT_COMPLETED,
        str(_shortfall(relay, parents)),
        FAILURE if any(map(_failed, parents.values())) else None,
        none_completed=bool(relay.parent_count) and not _any_completed(relay, parents),
    )


_UNMET: Final = {
    Rule.ANY_FAILED: "no parent failed",
    Rule.ANY_COMPLETED: "no parent completed",
}
"""The reasons of a skip by a rule that no parent's name explains."""


def _may_run(task: Task, parents: Mapping[str, Task]) -> bool:
    match task.rule:
        case Rule.ALL_COMPLETED:
            return not task.not_completed
        case Rule.ALL_SETTLED:
            return True
        case Rule.ANY_FAILED:
            return any(map(_failed, parents.values()))
        case Rule.NONE_FAILED:
            return not any(map(_failed, parents.values()))
        case Rule.ANY_COMPLETED:
            return _any_completed(task, parents)


def _any_completed(task: Task, parents: Mapping[str, Task]) -> bool:
    """Return whether one of the task's parents completed, perhaps behind a relay.

    A task of an earlier version does not store its number of parents: then only relays count.
    """
    if len(task.not_completed) < task.parent_count:
        return True
    relays = [parent for parent in parents.values() if parent.ref.relay and parent.outcome]
    return any(relay.outcome and not relay.outcome.none_completed for relay in relays)


def _failed(parent: Task) -> bool:
    behind = parent.outcome.error_category if parent.ref.relay and parent.outcome else None
    return parent.state.failure or behind == FAILURE


def _shortfall(task: Task, parents: Mapping[str, Task]) -> Shortfall:
    """Name the parents that did not complete; a relay among them names those behind it."""
    relays = [parent for parent in parents.values() if parent.ref.relay]
    direct = task.not_completed - {relay.ref.task_id for relay in relays}
    emitted = [Shortfall.read(relay.outcome.error or "") for relay in relays if relay.outcome]
    return Shortfall.of(direct, emitted)
