"""Looks at every task that is being processed, and says how each of them is."""

from collections.abc import Iterator
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
from switchyard.domain.ids import DUE_SHARDS, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, DefinitionStore, Unsettled

ROWS_PER_PAGE: Final = 1_000

Pinned = tuple[str, str, int]
"""Whose definition it is, its name and its version."""


@dataclass(frozen=True, kw_only=True)
class TaskChecker:
    """Changes nothing."""

    unsettled: Unsettled
    definitions: DefinitionStore
    clock: Clock
    limits: HealthLimits
    """The stage's."""

    def check(self) -> HealthReport:
        """Of all tenants, however long ago a task was started. Raise `Unavailable`."""
        refs = [ref for shard in range(DUE_SHARDS) for ref in self._processing(shard)]
        tasks = self._read(list(dict.fromkeys(refs)))
        now_ms = self.clock.now_ms()
        return HealthReport(checked_at_ms=now_ms, tasks=self._checked(tasks, now_ms))

    def check_one(self, ref: TaskRef) -> CheckedTask | None:
        """`None` for a task that is not being processed. Raise `Unavailable`."""
        for checked in self._checked(self._read([ref]), self.clock.now_ms()):
            return checked
        return None

    def _processing(self, shard: int) -> Iterator[TaskRef]:
        cursor: str | None = None
        while True:
            page = self.unsettled.page(shard, limit=ROWS_PER_PAGE, cursor=cursor)
            yield from (row.ref for row in page.tasks if row.state is TaskState.PROCESSING)
            if page.cursor is None:
                return
            cursor = page.cursor

    def _read(self, refs: list[TaskRef]) -> list[Task]:
        """Read the tasks as they are: the list may name one that has settled since."""
        tasks = self.unsettled.read(refs)
        return [task for task in tasks if task.state is TaskState.PROCESSING]

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


def _pinned(task: Task) -> Pinned:
    return task.ref.tenant, task.definition, task.definition_version
