"""Replaces or ends the tasks that a fan-out or a job made earlier, before the new ones may run.

What is stored says what is left to do: every step may run again at any point, also twice at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.fan_out.earlier_items import earlier_items, stored_beside
from switchyard.domain.fan_out.items import NotExpandable
from switchyard.domain.fan_out.plan import Expansion
from switchyard.domain.ids import TaskRef
from switchyard.domain.jobs.job import StateOfTask
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.tasks.task import Task
from switchyard.domain.text import in_slices
from switchyard.ports import Clock, DispatchQueue, FanOuts, JobStore, Parallel, TaskGraph
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter

AT_A_TIME: Final = 100
"""Items, between two looks at the clock."""


@dataclass(frozen=True, kw_only=True)
class EarlierItems:
    fan_outs: FanOuts
    graph: TaskGraph
    jobs: JobStore
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock
    parallel: Parallel

    def require_room(self, task: Task, expansion: Expansion) -> None:
        """Raise `NotExpandable` if too much would be stored with what earlier runs left behind."""
        if task.items_run is None:
            return
        new = {one.ref.task_id for one in expansion.plan.tasks if not one.ref.hidden}
        total = len(new) + stored_beside(self.jobs.states(task.ref.job), new)
        if total > MAX_WITH_ITEMS:
            raise NotExpandable(
                f"with these {len(new):,} tasks and those that earlier runs made the job has "
                f"{total:,} tasks; it may have {MAX_WITH_ITEMS:,}: submit a new job"
            )

    def settled(self, task: Task, expansion: Expansion, *, until: float) -> bool:
        """Replace what the new list has as well and end the rest; `False` when more is left.

        The rest comes with another wake-up, as does what another has just changed.
        """
        if task.items_run is None:
            return True
        makers = {one.ref.task_id for one in expansion.plan.tasks if one.fans_out}
        left = earlier_items(self.jobs.states(task.ref.job), task, makers)
        for some in in_slices(left, AT_A_TIME):
            self._settle(task, expansion, some)
            if self.clock.monotonic() >= until:
                break
        if earlier_items(self.jobs.states(task.ref.job), task, makers):
            self.dispatches.send([task.this_run])
            return False
        return True

    def _settle(self, task: Task, expansion: Expansion, some: Sequence[StateOfTask]) -> None:
        plan = expansion.plan
        items = {one.ref: one for one in plan.tasks}

        def settle(ref: TaskRef) -> Task | None:
            if ref not in items:
                now_ms = self.clock.now_ms()
                return self.fan_outs.drop(ref, items_run=task.first_item_run, now_ms=now_ms)
            name = ref.task_id
            self.fan_outs.replace(items[ref], plan.payloads[name], plan.dependents[name])
            return None

        ended = self.parallel.each(settle, [one.ref for one in some])
        for dropped in ended:
            if dropped is not None and dropped.due_at_ms is not None:
                self.emitter.emit(task_events.settled(dropped, output=None))
                self.graph.clear_due(dropped)  # nothing depends on it
