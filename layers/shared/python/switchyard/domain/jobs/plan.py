"""A validated job as the items that will be written for it, at once or in parts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeVar

from switchyard.domain.ids import END, START, JobRef, TaskRef
from switchyard.domain.jobs.graph import TaskSpec, dependents_of, roots
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.relays import compile_edges, parents_of
from switchyard.domain.scheduling.placement import (
    NO_QUEUES,
    Placement,
    Placing,
    Wish,
    limits_or_shared,
)
from switchyard.domain.scheduling.work_queues import DefinitionTerms
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import MAX_ATTEMPTS, Payload, Tags, Task, edge_token

FIRST_RUN: Final = 1
NO_DEFINITION: Final = ""


@dataclass(frozen=True, slots=True)
class Pinned:
    """The values that a task keeps of its definition, however that changes later."""

    version: int
    max_attempts: int = MAX_ATTEMPTS
    terms: DefinitionTerms | None = None
    """What it says of queue, class and limits, if anything."""


HELD: Final = Pinned(version=0)
"""Stands for the definition of a task that no worker runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    job: Job
    tasks: tuple[Task, ...]
    dependents: Mapping[str, tuple[str, ...]]
    """Relays and `__start__` have them too."""
    payloads: Mapping[str, Payload]

    @property
    def visible_tasks(self) -> tuple[Task, ...]:
        return tuple(task for task in self.tasks if not task.ref.hidden)


def plan_job(
    ref: JobRef,
    *,
    name: str,
    tags: Tags,
    specs: Sequence[TaskSpec],
    pinned: Mapping[str, Pinned],
    now_ms: int,
    trace: str | None = None,
    placing: Placing = NO_QUEUES,
) -> JobPlan:
    job = Job(
        ref=ref,
        name=name,
        state=JobState.WRITING,
        total_tasks=len(specs),
        created_at_ms=now_ms,
        tags=tags,
        trace=trace,
        queue=placing.wish.queue,
        priority=placing.wish.priority,
        due_at_ms=now_ms + due.JOB_BEING_WRITTEN,
    )
    dependents = compile_edges(_edges(specs))
    tokens = {task_id: _tokens(names) for task_id, names in parents_of(dependents).items()}
    visible = [new_task(job, spec, pinned, tokens[spec.task_id], placing=placing) for spec in specs]
    known = {START, END, *(spec.task_id for spec in specs)}
    relays = [name for name in dependents if name not in known]
    return JobPlan(
        job=job,
        tasks=(
            hidden_task(ref.task(START)),
            *visible,
            *(hidden_task(ref.task(name), tokens[name]) for name in relays),
            hidden_task(ref.task(END), tokens[END]),
        ),
        dependents=dependents,
        payloads={spec.task_id: payload_of(spec) for spec in specs},
    )


def payload_of(spec: TaskSpec) -> Payload:
    """Return the data of a task that has no output yet."""
    return Payload(
        input=spec.input,
        depends_on=spec.depends_on,
        when=spec.when,
        hold=spec.hold.stored() if spec.hold else None,
        files=spec.files,
        artifacts=spec.artifacts,
        commitments=spec.commitments,
        fan_out=spec.fan_out.stored(of_jobs=spec.nested) if spec.fan_out else None,
        metadata=spec.metadata,
    )


def hidden_task(ref: TaskRef, waiting_on: Iterable[str] = ()) -> Task:
    """Return `__start__`, `__end__` or a relay: it settles when those it waits on have, however."""
    return Task(
        ref=ref,
        state=TaskState.WAITING,
        definition=NO_DEFINITION,
        definition_version=0,
        rule=Rule.ALL_SETTLED,
        waiting_on=frozenset(waiting_on),
        parent_count=len(frozenset(waiting_on)) if ref.relay else 0,
    )


def needs_parent_count(task: Task) -> bool:
    """Return whether the number of the task's parents has to be stored."""
    return task.ref.relay or task.rule is Rule.ANY_COMPLETED


def new_task(
    job: Job,
    spec: TaskSpec,
    pinned: Mapping[str, Pinned],
    waiting_on: frozenset[str] = frozenset(),
    *,
    placing: Placing = NO_QUEUES,
) -> Task:
    pin = HELD if spec.hold else pinned[spec.name]
    place = _place(job, spec, pin, placing)
    return Task(
        ref=job.ref.task(spec.task_id),
        state=TaskState.WAITING,
        definition=spec.name,
        definition_version=pin.version,
        max_attempts=place.max_attempts,
        queue=place.queue,
        priority=place.priority,
        lease_ms=place.lease_ms,
        limits=place.limits,
        rule=spec.rule,
        kind=spec.kind,
        conditional=spec.when is not None,
        waiting_on=waiting_on,
        parent_count=len(waiting_on) if spec.rule is Rule.ANY_COMPLETED else 0,
        trace=job.trace,
    )


def _place(job: Job, spec: TaskSpec, pin: Pinned, placing: Placing) -> Placement:
    """Place a task. A key is resolved from its input, of a fan-out from that of each item."""
    if spec.hold:
        return Placement()
    wish = Wish(queue=spec.queue, priority=spec.priority).over(wish_of(job))
    if spec.nested:
        return replace(placing.inherited(wish, pin.terms), max_attempts=pin.max_attempts)
    place = placing.placed(wish, spec.name, pin.terms, max_attempts=pin.max_attempts)
    if spec.fan_out is not None:
        return place
    return replace(place, limits=limits_or_shared(place.limits, spec.input))


def wish_of(made_by: Job | Task) -> Wish:
    """Return what a job, or a task that is one, asks for its tasks."""
    return Wish(queue=made_by.queue, priority=made_by.priority)


def _edges(specs: Sequence[TaskSpec]) -> dict[str, tuple[str, ...]]:
    declared = dependents_of(specs)
    return {
        START: roots(specs),
        **{task_id: children or (END,) for task_id, children in declared.items()},
    }


def _tokens(parents: Iterable[str]) -> frozenset[str]:
    return frozenset(edge_token(parent, FIRST_RUN) for parent in parents)


V = TypeVar("V")


def items_in(plan: JobPlan) -> int:
    """Count the items of a plan, without that of the job itself."""
    return len(plan.tasks) + len(plan.dependents) + len(plan.payloads)


def part_of(plan: JobPlan, *, first: int, at_most: int) -> JobPlan:
    """Return a part of a plan's items: tasks come first, then edges, then payloads."""
    of_tasks = len(plan.tasks)
    of_edges = of_tasks + len(plan.dependents)
    last = first + at_most
    return replace(
        plan,
        tasks=plan.tasks[first:last],
        dependents=_between(plan.dependents, first - of_tasks, last - of_tasks),
        payloads=_between(plan.payloads, first - of_edges, last - of_edges),
    )


def _between(named: Mapping[str, V], first: int, last: int) -> dict[str, V]:
    return dict(islice(named.items(), max(0, first), max(0, last)))
