"""Decides which tasks a redrive reopens, and how each of them goes on."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from typing import Any, Final

from switchyard.domain.fan_out.earlier_items import REASON, has_left_the_list
from switchyard.domain.ids import END, HIDDEN_PREFIX, RELAY_PREFIX, JobRef
from switchyard.domain.jobs.job import JobPicture
from switchyard.domain.jobs.plan import FIRST_RUN, Pinned, hidden_task
from switchyard.domain.jobs.relays import Edges, compile_edges, parents_of
from switchyard.domain.redrives.reach import Reach, reach_of
from switchyard.domain.scheduling.placement import Renewal
from switchyard.domain.states import TaskState, task_status
from switchyard.domain.tasks.task import NO_OVERRIDES, Json, Overrides, Task, edge_token

REDRIVABLE: Final = frozenset(
    {TaskState.FAILED, TaskState.TIMED_OUT, TaskState.SKIPPED, TaskState.CANCELLED}
)
BY_DEFAULT: Final = REDRIVABLE - {TaskState.SKIPPED}  # what was skipped follows what it waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The values that the selected tasks are given instead of what they had."""

    overrides: Overrides = NO_OVERRIDES
    inputs: Mapping[str, Json] = field(default_factory=dict)
    """New inputs by task id."""
    pinned: Mapping[str, Pinned] = field(default_factory=dict)
    """Other versions of definitions, by the definition's name."""
    renewals: Mapping[str, Renewal] = field(default_factory=dict)
    """What those versions say of limits and attempts, by task id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """A task as it was, and how its next run begins."""

    task_id: str
    state: TaskState
    run: int
    fence: int
    waiting_on: frozenset[str] = frozenset()
    """The edge tokens; with none it may run at once."""
    not_completed: frozenset[str] = frozenset()
    overrides: Overrides = NO_OVERRIDES
    items_run: int | None = None
    """The run that new tasks begin with, if it is a fan-out or a job that makes them anew."""
    pinned: Pinned | None = None
    """The version of its definition from now on, if that is another."""
    limits: tuple[str, ...] | None = None
    """The limits that it falls under from now on, if those are others."""

    @property
    def renewed(self) -> dict[str, Any]:
        """Return the fields that this redrive changes and that others leave as they are."""
        version = self.pinned
        return {
            **({} if self.limits is None else {"limits": self.limits or None}),
            **({"items_run": self.items_run} if self.items_run else {}),
            **({"definition_version": version.version} if version else {}),
            **({"max_attempts": version.max_attempts} if version else {}),
        }

    @property
    def unmade(self) -> tuple[str, ...]:
        """Return the attributes that are removed because the items are made anew."""
        return ("child_count", "expanded") if self.items_run else ()

    @property
    def made_output(self) -> bool:
        """Whether an output is stored of the run that ends, which is none of the next one."""
        return self.state is TaskState.COMPLETED and not self.task_id.startswith(HIDDEN_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdges:
    """The tasks that a task wakes when it settles, in addition to those in `before`."""

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
    """The reopenings of waiting tasks, dependents before their parents: `__end__` comes first."""
    ready: tuple[Reopening, ...]
    relays: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """New relays, each with what it waits on."""
    edges: Mapping[str, NewEdges] = field(default_factory=dict)
    """New edges of tasks that had no dependent among the reopened tasks, and of new relays."""
    inputs: Mapping[str, Json] = field(default_factory=dict)
    requested_by: str | None = None
    """A person, where one is known."""
    fewer_tasks: int = 0
    """The number of items that the job has no longer, until their fan-outs make them anew."""


@dataclass(frozen=True, slots=True)
class NotRedrivable:
    reason: str


def select(picture: JobPicture, named: Sequence[str]) -> tuple[Task, ...] | NotRedrivable:
    """Return the `named` tasks, which all exist; without names, what failed or was cancelled."""
    if not named:
        completed = {t.ref.task_id for t in picture.tasks if t.state is TaskState.COMPLETED}
        chosen = tuple(
            task
            for task in picture.visible_tasks
            if task.state in BY_DEFAULT and not completed.intersection(task.ref.makers)
        )
        return chosen or NotRedrivable("there is nothing to redrive: no task failed")
    wanted = set(named)
    named_ones = _named(picture, wanted)
    gone = [task.ref.task_id for task in named_ones if has_left_the_list(task)]
    if gone:
        return NotRedrivable(f"{gone[0]} cannot run: {REASON}")
    stored = [task for task in named_ones if task.state not in REDRIVABLE]
    if stored:
        states = ", ".join(f"{t.ref.task_id} ({_status(t)})" for t in stored)
        return NotRedrivable(f"only what did not complete can be redriven, not {states}")
    return named_ones + _items_of(picture, wanted)


def select_again(picture: JobPicture, named: Sequence[str]) -> tuple[Task, ...] | NotRedrivable:
    """Return the tasks to run again with everything after them, in whatever state they are."""
    found = _named(picture, set(named))
    gone = [task.ref.task_id for task in found if has_left_the_list(task)]
    return NotRedrivable(f"{gone[0]} cannot run: {REASON}") if gone else found


def _named(picture: JobPicture, wanted: Set[str]) -> tuple[Task, ...]:
    return tuple(task for task in picture.visible_tasks if task.ref.task_id in wanted)


def _items_of(picture: JobPicture, wanted: Set[str]) -> tuple[Task, ...]:
    """Return the tasks that did not complete of fan-outs and jobs that are redriven as a whole."""
    return tuple(
        task
        for task in picture.visible_tasks
        if not wanted.isdisjoint(task.ref.makers)
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
    again: Iterable[Task] = (),
) -> RedrivePlan:
    """Plan the redrive of a settled job; `dependents` has those of hidden tasks, too.

    Those to run `again` run with everything that comes after them, the selected with what did not
    complete.
    """
    first, renewed = ({task.ref.task_id for task in some} for some in (selected, again))
    tasks = {task.ref.task_id: task for task in picture.tasks}
    reach = reach_of(tasks, dependents, chosen=first, again=renewed)
    inner = _edges_within(reach.tasks, dependents)
    prefix = f"{RELAY_PREFIX}r{picture.job.run}-"
    last = compile_edges(dict.fromkeys((n for n in inner if not inner[n]), (END,)), prefix=prefix)
    relays = [name for name in last if name.startswith(prefix)]
    tokens = {
        name: frozenset(_next_token(tasks, parent) for parent in before)
        for name, before in (parents_of(inner) | parents_of(last)).items()
    }
    changed = _Changed(changes, frozenset(first | renewed), reach, picture.job.run + 1)
    reopenings = [
        changed.reopening(tasks[name], tokens.get(name, frozenset()))
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
        fewer_tasks=sum(tasks[name].child_count or 0 for name in _renewed_makers(tasks, reach)),
    )


def _renewed_makers(tasks: Mapping[str, Task], reach: Reach) -> list[str]:
    """Return those whose tasks are no longer the job's, until they are made anew."""
    return [
        name
        for name, task in tasks.items()
        if name in reach.new_lists
        or (task.fans_out and reach.renews(name) and not has_left_the_list(task))
    ]


def relay_task(job: JobRef, plan: RedrivePlan, name: str) -> Task:
    return hidden_task(job.task(name), plan.relays[name])


def _edges_within(reached: Set[str], dependents: Edges) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(after for after in dependents.get(name, ()) if after in reached)
        for name in sorted(reached)
    }


@dataclass(frozen=True, slots=True)
class _Changed:
    """The change of each task that is reached."""

    changes: Changes
    selected: Set[str]
    reach: Reach
    next_run: int
    """The run of the job that the redrive begins."""

    def reopening(self, task: Task, waiting_on: frozenset[str]) -> Reopening:
        name = task.ref.task_id
        selected = name in self.selected
        overrides = self.changes.overrides.over(task.overrides) if selected else task.overrides
        renewal = self.changes.renewals.get(name) if selected else None
        pin = self.changes.pinned.get(task.definition) if selected else None
        return Reopening(
            task_id=name,
            state=task.state,
            run=task.run,
            fence=task.fence,
            waiting_on=waiting_on,
            not_completed=frozenset(one for one in task.not_completed if self._is_kept(one)),
            overrides=overrides,
            items_run=self.next_run if name in self.reach.new_lists else None,
            pinned=replace(pin, max_attempts=renewal.max_attempts) if pin and renewal else pin,
            limits=renewal.limits if renewal else None,
        )

    def _is_kept(self, parent: str) -> bool:
        return parent not in self.reach.tasks and not self.reach.renews(parent)


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
