"""The shape of a job: which tasks follow which, and everything that can be wrong with that."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.fan_outs import FanOut
from switchyard.domain.ids import HIDDEN_PREFIX, LONGEST_FAN_OUT, TASK_ID, TASK_ID_RULE
from switchyard.domain.jobs.limits import size_problem
from switchyard.domain.states import Rule, TaskKind
from switchyard.domain.tasks.holds import Hold
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import did_you_mean

MAX_NAMED_IN_CYCLE: Final = 20
NOT_REGISTERED: Final = "is not a registered task definition"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """A task as the producer describes it; `name` is that of its definition."""

    task_id: str
    name: str
    """The name of the definition; empty where no worker runs the task."""
    depends_on: tuple[str, ...] = ()
    input: Json = None
    rule: Rule = Rule.ALL_COMPLETED
    when: str | None = None
    """The condition that has to hold for it to run."""
    hold: Hold | None = None
    """The hold that ends the task, where no worker runs it."""
    files: tuple[str, ...] = ()
    """The names of the files that the task is given, as `FileReference` reads them."""
    artifacts: tuple[str, ...] = ()
    """Patterns for the files that it has to leave behind."""
    commitments: tuple[Mapping[str, Json], ...] = ()
    """What has to hold before it counts as completed, beside what its definition says."""
    fan_out: FanOut | None = None
    """The list that the task makes tasks of, one for each item; then `name` is that of those."""
    nested: bool = False
    """Whether it is a job, or each of its items is: then `name` is that of a template."""
    queue: str | None = None
    """The work queue that it waits in, if it names one."""
    priority: str | None = None
    """The class of the task, if it names one."""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> TaskKind | None:
        if self.fan_out is not None:
            return TaskKind.FAN_OUT
        if self.nested:
            return TaskKind.JOB
        return self.hold.kind if self.hold else None


def roots(tasks: Sequence[TaskSpec]) -> tuple[str, ...]:
    return tuple(task.task_id for task in tasks if not task.depends_on)


def sinks(tasks: Sequence[TaskSpec]) -> tuple[str, ...]:
    parents = {parent for task in tasks for parent in task.depends_on}
    return tuple(task.task_id for task in tasks if task.task_id not in parents)


def dependents_of(tasks: Sequence[TaskSpec]) -> dict[str, tuple[str, ...]]:
    children: dict[str, list[str]] = {task.task_id: [] for task in tasks}
    for task in tasks:
        for parent in task.depends_on:
            children[parent].append(task.task_id)
    return {parent: tuple(names) for parent, names in children.items()}


def problems_in(tasks: Sequence[TaskSpec]) -> list[Problem]:
    problems = _size_problems(tasks)
    if problems:
        return problems
    problems = [*_id_problems(tasks), *_dependency_problems(tasks)]
    cycle = _first_cycle(tasks)
    if cycle and len({task.task_id for task in tasks}) == len(tasks):
        problems.append(_cycle_problem(cycle, tasks))
    return problems


def unknown_names(tasks: Sequence[TaskSpec], known: Container[str]) -> list[Problem]:
    return [
        Problem(("tasks", index, "name"), f"{task.name!r} {NOT_REGISTERED}")
        for index, task in enumerate(tasks)
        if task.hold is None and task.name not in known
    ]


def _size_problems(tasks: Sequence[TaskSpec]) -> list[Problem]:
    problem = size_problem(len(tasks), sum(len(task.depends_on) for task in tasks))
    return [Problem(("tasks",), problem)] if problem else []


def _id_problems(tasks: Sequence[TaskSpec]) -> Iterator[Problem]:
    times = Counter(task.task_id for task in tasks)
    for index, task in enumerate(tasks):
        path = ("tasks", index, "taskId")
        if not TASK_ID.fullmatch(task.task_id):
            yield Problem(path, f"{task.task_id!r} must be {TASK_ID_RULE}")
        elif task.task_id.startswith(HIDDEN_PREFIX):
            yield Problem(path, f"{task.task_id!r}: ids beginning with __ are reserved")
        elif (task.fan_out or task.nested) and len(task.task_id) > LONGEST_FAN_OUT:
            what = "fan-out" if task.fan_out else "job"
            said = f"has {len(task.task_id)} characters; that of a {what} has {LONGEST_FAN_OUT}"
            yield Problem(path, f"{said} at most: those of its tasks are longer")
        if times[task.task_id] > 1:
            yield Problem(path, f"{task.task_id!r} is used {times[task.task_id]} times")


def _dependency_problems(tasks: Sequence[TaskSpec]) -> Iterator[Problem]:
    known = {task.task_id for task in tasks}
    for index, task in enumerate(tasks):
        path = ("tasks", index, "dependsOn")
        for parent in sorted(set(task.depends_on) - known):
            hint = did_you_mean(parent, known - {task.task_id})
            said = f"{task.task_id!r} depends on {parent!r}, which does not exist{hint}"
            yield Problem(path, said)
        if len(set(task.depends_on)) < len(task.depends_on):
            yield Problem(path, f"{task.task_id!r} names a dependency twice")


def _cycle_problem(cycle: Sequence[str], tasks: Sequence[TaskSpec]) -> Problem:
    """Report a cycle at the task of it that stands first, with which it also begins."""
    places = {task.task_id: index for index, task in enumerate(tasks)}
    within = cycle[:-1]
    start = min(range(len(within)), key=lambda at: places[within[at]])
    ordered = [*within[start:], *within[:start], within[start]]
    said = f"the dependencies form a cycle: {_arrows(ordered)}; remove one of these dependencies"
    return Problem(("tasks", places[ordered[0]], "dependsOn"), said)


def _first_cycle(tasks: Sequence[TaskSpec]) -> Sequence[str] | None:
    """Return its tasks: each is followed by one that depends on it, and the first is the last."""
    sorter = TopologicalSorter({task.task_id: task.depends_on for task in tasks})
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None


def _arrows(cycle: Sequence[str]) -> str:
    left_out = len(cycle) - MAX_NAMED_IN_CYCLE
    if left_out > 1:
        named = cycle[: MAX_NAMED_IN_CYCLE - 1]
        cycle = [*named, f"({left_out:,} more)", cycle[-1]]
    return " → ".join(cycle)
