"""Previews a redrive: the tasks that it will run, their last cost, and what it leaves as it is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from switchyard.domain.fan_out.earlier_items import has_left_the_list
from switchyard.domain.jobs.job import JobPicture
from switchyard.domain.jobs.redrive import RedrivePlan, Reopening
from switchyard.domain.jobs.relays import Edges
from switchyard.domain.redrives.reach import Reach, stale_after
from switchyard.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Planned:
    """A task that runs again, or is decided anew, as it is before that."""

    task: Task
    at_once: bool
    cost_usd: float
    """The cost of its last run; of a fan-out that makes its items anew, including its items."""
    items: int | None
    """The number of items that there are now."""


def planned_tasks(picture: JobPicture, plan: RedrivePlan) -> list[Planned]:
    """Return the tasks that people see, parents first."""
    tasks = {task.ref.task_id: task for task in picture.tasks}
    items = _items(picture)
    return [
        _planned(tasks[one.task_id], one, items.get(one.task_id, ()))
        for one in (*plan.ready, *reversed(plan.waiting))
        if not tasks[one.task_id].ref.hidden
    ]


def stale_tasks(picture: JobPicture, plan: RedrivePlan, dependents: Edges) -> list[str]:
    """Return the completed tasks that used what is made anew, and do not run again themselves."""
    tasks = {task.ref.task_id: task for task in picture.tasks}
    both = (*plan.ready, *plan.waiting)
    reach = Reach(
        frozenset(one.task_id for one in both if one.task_id in dependents),
        frozenset(one.task_id for one in both if one.items_run),
    )
    return stale_after(tasks, dependents, reach)


def outdated(
    chosen: Iterable[Task], plan: RedrivePlan, latest: Mapping[str, int]
) -> Iterator[tuple[Task, int]]:
    """Return the chosen tasks that run an older version of their definition than the latest."""
    pinned = {one.task_id for one in (*plan.ready, *plan.waiting) if one.pinned}
    for task in chosen:
        newest = latest.get(task.definition, 0)
        if task.ref.task_id not in pinned and task.definition_version < newest:
            yield task, newest


def _planned(task: Task, one: Reopening, items: Sequence[Task]) -> Planned:
    made = items if one.items_run else ()
    return Planned(
        task=task,
        at_once=not one.waiting_on,
        cost_usd=sum(map(_cost, (task, *made))),
        items=len(made) if one.items_run else None,
    )


def _items(picture: JobPicture) -> dict[str, list[Task]]:
    found: dict[str, list[Task]] = {}
    for task in picture.visible_tasks:
        for maker in () if has_left_the_list(task) else task.ref.makers:
            found.setdefault(maker, []).append(task)
    return found


def _cost(task: Task) -> float:
    return task.outcome.usage.cost_usd if task.outcome else 0.0
