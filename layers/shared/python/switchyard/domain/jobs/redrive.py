"""Which tasks a redrive reopens, and how each of them goes on."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Final

from switchyard.domain.ids import END, RELAY_PREFIX, JobRef, is_made_by
from switchyard.domain.jobs.job import JobPicture
from switchyard.domain.jobs.plan import FIRST_RUN, hidden_task
from switchyard.domain.jobs.relays import Edges, compile_edges, parents_of
from switchyard.domain.states import TaskState, task_status
from switchyard.domain.tasks.task import NO_OVERRIDES, Json, Overrides, Task, edge_token

REDRIVABLE: Final = frozenset(
    {TaskState.FAILED, TaskState.TIMED_OUT, TaskState.SKIPPED, TaskState.CANCELLED}
)
BY_DEFAULT: Final = REDRIVABLE - {TaskState.SKIPPED}  # what was skipped follows what it waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What the selected tasks are given instead of what they had."""

    overrides: Overrides = NO_OVERRIDES
    inputs: Mapping[str, Json] = field(default_factory=dict)
    """By task id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """One task as it was, and how its next run begins."""

    task_id: str
    state: TaskState
    run: int
    fence: int
    waiting_on: frozenset[str] = frozenset()
    """None: it may run at once."""
    not_completed: frozenset[str] = frozenset()
    overrides: Overrides = NO_OVERRIDES


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdges:
    """Whom a task wakes when it settles, in addition to those `before`."""

    before: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def after(self) -> tuple[str, ...]:
        return (*self.before, *self.added)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrivePlan:
    run: int
    """The job's, which the redrive ends."""
    asked_at_ms: int
    waiting: tuple[Reopening, ...]
    """None before those that wait for it: `__end__` comes first."""
    ready: tuple[Reopening, ...]
    relays: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """New ones, each with what it waits on."""
    edges: Mapping[str, NewEdges] = field(default_factory=dict)
    """Of tasks that were followed by none of those that are reopened, and of new relays."""
    inputs: Mapping[str, Json] = field(default_factory=dict)
    requested_by: str | None = None
    """A person, where one is known."""


@dataclass(frozen=True, slots=True)
class NotRedrivable:
    reason: str


def select(picture: JobPicture, named: Sequence[str]) -> tuple[Task, ...] | NotRedrivable:
    """Those that were `named`, all of which exist; without any, what failed or was cancelled."""
    if not named:
        completed = {t.ref.task_id for t in picture.tasks if t.state is TaskState.COMPLETED}
        chosen = tuple(
            task
            for task in picture.visible_tasks
            if task.state in BY_DEFAULT and not completed.intersection(task.ref.makers)
        )
        return chosen or NotRedrivable("there is nothing to redrive: no task failed")
    wanted = set(named)
    named_ones = tuple(task for task in picture.visible_tasks if task.ref.task_id in wanted)
    stored = [task for task in named_ones if task.state not in REDRIVABLE]
    if stored:
        states = ", ".join(f"{t.ref.task_id} ({_status(t)})" for t in stored)
        return NotRedrivable(f"only what did not complete can be redriven, not {states}")
    return named_ones + _items_of(picture, wanted)


def _items_of(picture: JobPicture, wanted: set[str]) -> tuple[Task, ...]:
    """Return the tasks that did not complete of fan-outs and jobs that are redriven as a whole."""
    return tuple(
        task
        for task in picture.visible_tasks
        if wanted.intersection(task.ref.makers)
        and task.ref.task_id not in wanted
        and task.state in BY_DEFAULT
    )


def plan_redrive(
    picture: JobPicture,
    dependents: Edges,
    selected: Iterable[Task],
    changes: Changes,
    *,
    now_ms: int,
) -> RedrivePlan:
    """`picture` is of a settled job; `dependents` has those of hidden tasks, too."""
    chosen = {task.ref.task_id for task in selected}
    tasks = {task.ref.task_id: task for task in picture.tasks}
    inner = _edges_within(_reach(tasks, dependents, chosen), dependents)
    prefix = f"{RELAY_PREFIX}r{picture.job.run}-"
    sinks = [name for name, after in inner.items() if not after]
    last = compile_edges(dict.fromkeys(sinks, (END,)), prefix=prefix)
    parents = parents_of(inner)
    relays = [name for name in last if name.startswith(prefix)]
    tokens = {
        name: frozenset(_next_token(tasks, parent) for parent in before)
        for name, before in (parents | parents_of(last)).items()
    }
    overrides = {name: changes.overrides.over(tasks[name].overrides) for name in chosen}
    reopenings = [
        _reopening(tasks[name], tokens.get(name, frozenset()), inner.keys(), overrides.get(name))
        for name in (END, *TopologicalSorter(inner).static_order())
    ]
    return RedrivePlan(
        run=picture.job.run,
        asked_at_ms=now_ms,
        waiting=tuple(one for one in reopenings if one.waiting_on),
        ready=tuple(one for one in reopenings if not one.waiting_on),
        relays={name: tokens[name] for name in relays},
        edges=_new_edges(dependents, last),
        inputs=changes.inputs,
    )


def relay_task(job: JobRef, plan: RedrivePlan, name: str) -> Task:
    return hidden_task(job.task(name), plan.relays[name])


def _reach(tasks: Mapping[str, Task], dependents: Edges, chosen: Iterable[str]) -> set[str]:
    """The chosen and all that did not complete after them; completed tasks stay as they are.

    But for a fan-out or a job: it gathers again what its tasks made.
    """
    reached = set(chosen)
    ahead = list(reached)
    while ahead:
        before = ahead.pop()
        for name in dependents.get(before, ()):
            gathers = tasks[name].fans_out and is_made_by(before, name)
            completed = tasks[name].state is TaskState.COMPLETED and not gathers
            stored = name == END or completed
            if not stored and name not in reached:
                reached.add(name)
                ahead.append(name)
    return reached


def _edges_within(reached: set[str], dependents: Edges) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(after for after in dependents.get(name, ()) if after in reached)
        for name in sorted(reached)
    }


def _reopening(
    task: Task, waiting_on: frozenset[str], reached: Set[str], overrides: Overrides | None
) -> Reopening:
    return Reopening(
        task_id=task.ref.task_id,
        state=task.state,
        run=task.run,
        fence=task.fence,
        waiting_on=waiting_on,
        not_completed=frozenset(name for name in task.not_completed if name not in reached),
        overrides=task.overrides if overrides is None else overrides,
    )


def _next_token(tasks: Mapping[str, Task], parent: str) -> str:
    """A relay that the plan brings along begins its first run."""
    return edge_token(parent, tasks[parent].run + 1 if parent in tasks else FIRST_RUN)


def _new_edges(dependents: Edges, last: Edges) -> dict[str, NewEdges]:
    found: dict[str, NewEdges] = {}
    for name, wanted in last.items():
        before = tuple(dependents.get(name, ()))
        added = tuple(after for after in wanted if after not in before)
        if added:
            found[name] = NewEdges(before=before, added=added)
    return found


def _status(task: Task) -> str:
    return task_status(task.state, attempt=task.attempt)
