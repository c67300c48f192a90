"""Looks at every task that is being processed, and at code that tasks wait for in vain."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.errors import UnknownDefinition
from switchyard.domain.health.health import (
    CheckedTask,
    HealthLimits,
    HealthReport,
    OwnLimits,
    check_task,
    worst_first,
)
from switchyard.domain.health.presence import those_there
from switchyard.domain.health.unserved import (
    UNSERVED_AFTER_MS,
    UnservedCode,
    UnservedGroup,
    code_name,
    unserved_code,
    unserved_groups,
)
from switchyard.domain.ids import DUE_SHARDS, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, DefinitionStore, Presence, Unsettled, UnsettledTask

ROWS_PER_PAGE: Final = 1_000
WAITING: Final = frozenset({TaskState.READY, TaskState.QUEUED})
MAX_WAITING: Final = 2_000
"""The most tasks that were handed back that are looked at; the code they lack is the same."""

Pinned = tuple[str, str, int]
"""The tenant of a definition, its name and its version."""


@dataclass(frozen=True, kw_only=True)
class TaskChecker:
    """Changes nothing."""

    unsettled: Unsettled
    definitions: DefinitionStore
    presence: Presence
    clock: Clock
    limits: HealthLimits
    """The stage's."""
    served_groups: Callable[[], Collection[str]] | None = None
    """The groups that pools serve; `None` on a stage without pools. Raises `Unavailable`."""

    def check(self) -> HealthReport:
        """Check the running tasks of all tenants, however long they run. Raise `Unavailable`."""
        rows = [row for shard in range(DUE_SHARDS) for row in self._rows(shard)]
        running = [row.ref for row in rows if row.state is TaskState.PROCESSING]
        tasks = self._read(list(dict.fromkeys(running)))
        now_ms = self.clock.now_ms()
        return HealthReport(
            checked_at_ms=now_ms,
            tasks=self._checked(tasks, now_ms),
            unserved=self._unserved(rows, now_ms),
            unserved_groups=self._unserved_groups(rows, now_ms),
        )

    def check_one(self, ref: TaskRef) -> CheckedTask | None:
        """Check one task; `None` if it is not being processed. Raise `Unavailable`."""
        for checked in self._checked(self._read([ref]), self.clock.now_ms()):
            return checked
        return None

    def _rows(self, shard: int) -> Iterator[UnsettledTask]:
        cursor: str | None = None
        while True:
            page = self.unsettled.page(shard, limit=ROWS_PER_PAGE, cursor=cursor)
            yield from page.tasks
            if page.cursor is None:
                return
            cursor = page.cursor

    def _read(self, refs: list[TaskRef]) -> list[Task]:
        """Read the tasks as they are: the list may name one that has settled since."""
        tasks = self.unsettled.read(refs)
        return [task for task in tasks if task.state is TaskState.PROCESSING]

    def _unserved(self, rows: list[UnsettledTask], now_ms: int) -> tuple[UnservedCode, ...]:
        """Find code that no present worker has among the tasks that were handed back."""
        refs = [row.ref for row in rows if _was_handed_back(row, now_ms)]
        waiting = self.unsettled.read(list(dict.fromkeys(refs))[:MAX_WAITING]) if refs else ()
        tasks = [task for task in waiting if task.state is TaskState.QUEUED]
        definitions = {pinned: self._definition(*pinned) for pinned in set(map(_pinned, tasks))}
        codes = [(task, _code_of(definitions[_pinned(task)])) for task in tasks]
        needed = [(task, code) for task, code in codes if code is not None]
        if not needed:
            return ()
        there = those_there(self.presence.all(), now_ms=now_ms)
        served = {code for worker in there for code in worker.functions}
        return unserved_code(needed, served, now_ms=now_ms)

    def _unserved_groups(self, rows: list[UnsettledTask], now_ms: int) -> tuple[UnservedGroup, ...]:
        """Find groups without a pool among the tasks that have waited for long."""
        if self.served_groups is None:
            return ()
        refs = [row.ref for row in rows if _has_waited(row, now_ms)]
        waiting = self.unsettled.read(list(dict.fromkeys(refs))[:MAX_WAITING]) if refs else ()
        tasks = [task for task in waiting if task.state in WAITING]
        return unserved_groups(tasks, self.served_groups(), now_ms=now_ms) if tasks else ()

    def _checked(self, tasks: list[Task], now_ms: int) -> tuple[CheckedTask, ...]:
        definitions = {pinned: self._definition(*pinned) for pinned in set(map(_pinned, tasks))}
        checked = [
            check_task(task, self._limits(task, definitions[_pinned(task)]), now_ms=now_ms)
            for task in tasks
        ]
        return worst_first(checked)

    def _limits(self, task: Task, definition: TaskDefinition | None) -> HealthLimits:
        own = definition.health.limits if definition and definition.health else OwnLimits()
        timeout_ms = task.overrides.timeout_ms or (definition.timeout if definition else None)
        return own.within(self.limits, timeout_ms=timeout_ms)

    def _definition(self, tenant: str, name: str, version: int) -> TaskDefinition | None:
        try:
            return self.definitions.version(tenant, name, version)
        except UnknownDefinition:  # its task will fail of that; meanwhile it is like any other
            return None


def _was_handed_back(row: UnsettledTask, now_ms: int) -> bool:
    if row.state is not TaskState.QUEUED or row.started_at_ms is None:
        return False
    return now_ms - (row.ready_at_ms or row.started_at_ms) >= UNSERVED_AFTER_MS


def _has_waited(row: UnsettledTask, now_ms: int) -> bool:
    since_ms = row.ready_at_ms
    return row.state in WAITING and since_ms is not None and now_ms - since_ms >= UNSERVED_AFTER_MS


def _code_of(definition: TaskDefinition | None) -> str | None:
    """Return the name of the code that a definition needs, if that is a function."""
    if definition is None or definition.function is None or definition.code_hash is None:
        return None
    return code_name(definition.function, definition.code_hash)


def _pinned(task: Task) -> Pinned:
    return task.ref.tenant, task.definition, task.definition_version
