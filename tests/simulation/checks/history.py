"""Every version that a control item ever had, with who wrote it and when."""

from collections import defaultdict
from dataclasses import dataclass

from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    JOB_SORT_KEY,
    TASK_PREFIX,
    job_from,
    task_from,
)
from switchyard.adapters.dynamodb.overdue import ref_of
from switchyard.adapters.dynamodb.values import Item, deserialized
from switchyard.domain.fan_out.plan import start_of
from switchyard.domain.ids import FAN_PREFIX, JobRef, TaskRef, makers_of
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState
from switchyard.domain.tasks.task import Task
from tests.simulation.cloud.cloud import Cloud
from tests.simulation.cloud.table import Change
from tests.simulation.kernel.world import World


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    """In the order of all writes."""
    at: float
    by: str
    old: Task | None
    new: Task


class History:
    def __init__(self, world: World, cloud: Cloud) -> None:
        self._world = world
        self._state = cloud.state
        self.tasks: defaultdict[TaskRef, list[Version]] = defaultdict(list)
        self._parents: defaultdict[TaskRef, set[TaskRef]] = defaultdict(set)
        self.jobs: dict[JobRef, Job] = {}
        """The jobs as they are now."""
        self.cancelled_at: dict[tuple[JobRef, int], float] = {}
        """When the cancellation of each job's run was accepted, first."""
        self.asked_again: set[JobRef] = set()
        """Jobs of which somebody asked for completed tasks to run again."""
        cloud.dynamodb.on_change.append(self._remember)

    def parents(self, task: TaskRef) -> list[TaskRef]:
        return sorted(self._parents[task])

    def is_visible(self, task: TaskRef) -> bool:
        """Whether people see it: neither hidden, nor of a fan-out that is not all written."""
        owner = self.tasks.get(task.job.task(task.fan_out)) if task.fan_out else None
        unopened = owner is not None and owner[-1].new.child_count is None
        return not (task.hidden or unopened or self._is_of_earlier_list(task))

    def _is_of_earlier_list(self, task: TaskRef) -> bool:
        """Whether its fan-out reads its list anew, or has done so, and it is of the one before."""
        name = next(iter(makers_of(task.task_id)), None)
        owner = self.tasks.get(task.job.task(name)) if name else None
        if owner is None or not owner[-1].new.fans_out:
            return False
        if task.hidden:
            return task != start_of(owner[-1].new)
        return self.tasks[task][-1].new.run < owner[-1].new.first_item_run

    def can_run(self, task: TaskRef) -> bool:
        """Whether it does not wait for a fan-out that will never be opened."""
        name = task.fan_out or task.task_id.partition("[")[0].removeprefix(FAN_PREFIX)
        owner = self.tasks.get(task.job.task(name))
        waits = task.fan_out or task.task_id.startswith(FAN_PREFIX)
        if task.hidden and self._is_of_earlier_list(task):
            return False
        return not waits or owner is None or owner[-1].new.child_count is not None

    def settled_before(self, task: TaskRef, number: int) -> bool:
        earlier = [v for v in self.tasks[task] if v.number < number]
        return bool(earlier) and earlier[-1].new.state.settled

    def _remember(self, change: Change) -> None:
        if change.table != self._state or "#JOB#" not in change.key[0]:
            return
        item = deserialized(change.new)
        job, name = _job_of(item), item["SK"]
        if name == JOB_SORT_KEY:
            self.jobs[job] = found = job_from(item, job.tenant)
            if found.state is JobState.CANCELLING:
                self.cancelled_at.setdefault((job, found.run), self._world.now)
        elif name.startswith(TASK_PREFIX):
            self._remember_task(task_from(item, job))
        elif name.startswith(DEPENDENTS_PREFIX):
            self._remember_edges(item)

    def _remember_task(self, new: Task) -> None:
        versions = self.tasks[new.ref]
        old = versions[-1].new if versions else None
        number = self._world.number("write")
        versions.append(Version(number, self._world.now, self._world.acting, old, new))

    def _remember_edges(self, item: Item) -> None:
        job = _job_of(item)
        parent = job.task(item["SK"].removeprefix(DEPENDENTS_PREFIX))
        for name in item["tasks"]:
            self._parents[job.task(name)].add(parent)


def _job_of(item: Item) -> JobRef:
    job = ref_of({**item, "SK": JOB_SORT_KEY})
    assert isinstance(job, JobRef)
    return job
