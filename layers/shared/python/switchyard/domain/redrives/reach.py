"""Finds the tasks that a redrive reaches: those that run again, or are decided anew."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from switchyard.domain.ids import END, is_made_by, makers_of
from switchyard.domain.jobs.relays import Edges
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Reach:
    tasks: frozenset[str]
    """The tasks that are reached, with relays, without `__end__`."""
    new_lists: frozenset[str] = frozenset()
    """The fan-outs and jobs among them that make their tasks anew, of the list or input then."""

    def renews(self, name: str) -> bool:
        """Whether it was made, or is a relay, of one that makes its tasks anew."""
        return not self.new_lists.isdisjoint(makers_of(name))


def reach_of(
    tasks: Mapping[str, Task], dependents: Edges, *, chosen: Iterable[str], again: Iterable[str]
) -> Reach:
    """Return the chosen and all that did not complete after them, with those to run `again` and all
    that comes after those, whatever became of it."""
    first = frozenset(again)
    after = _followed(dependents, first, lambda _before, _name: True)
    from_outside = {
        name
        for before in after
        for name in dependents.get(before, ())
        if tasks[name].fans_out and not is_made_by(before, name)
    }
    new_lists = frozenset({name for name in first if tasks[name].fans_out} | from_outside)

    def goes_on(before: str, name: str) -> bool:
        return _is_reopened(tasks[name], before)

    found = Reach(after | _followed(dependents, frozenset(chosen), goes_on), new_lists)
    return Reach(frozenset(name for name in found.tasks if not found.renews(name)), new_lists)


def stale_after(tasks: Mapping[str, Task], dependents: Edges, reach: Reach) -> list[str]:
    """Return the completed tasks that follow what a redrive runs again, and stay as they are."""
    after = _followed(dependents, reach.tasks, lambda _before, _name: True)
    left = after - reach.tasks
    return sorted(
        name
        for name in left
        if not tasks[name].ref.hidden
        and tasks[name].state is TaskState.COMPLETED
        and not reach.renews(name)
    )


def _followed(
    dependents: Edges, first: frozenset[str], goes_on: Callable[[str, str], bool]
) -> frozenset[str]:
    reached = set(first)
    ahead = list(first)
    while ahead:
        before = ahead.pop()
        for name in dependents.get(before, ()):
            if name != END and name not in reached and goes_on(before, name):
                reached.add(name)
                ahead.append(name)
    return frozenset(reached)


def _is_reopened(task: Task, before: str) -> bool:
    """Return whether it is reopened: completed tasks stay, except for those that gather items."""
    gathers = task.fans_out and is_made_by(before, task.ref.task_id)
    return task.state is not TaskState.COMPLETED or gathers
