"""The tasks that a fan-out makes, and the relays between it and them."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from switchyard.domain.fan_out.items import Items, NotExpandable
from switchyard.domain.ids import FAN_PREFIX, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.jobs.plan import FIRST_RUN, JobPlan, hidden_task
from switchyard.domain.jobs.relays import Edges, compile_edges, parents_of
from switchyard.domain.jobs.transitions import add_items
from switchyard.domain.scheduling.limit_names import UnresolvedKey, resolved_limits
from switchyard.domain.states import Rule, TaskKind, TaskState
from switchyard.domain.tasks.fan_out_transitions import open_fan_out
from switchyard.domain.tasks.task import Json, Payload, Task, edge_token
from switchyard.domain.tasks.transitions import settle_start
from switchyard.domain.transition import Transition


@dataclass(frozen=True, slots=True)
class Expansion:
    """The items that are written for a fan-out before its tasks may run."""

    plan: JobPlan
    waiting_on: frozenset[str]
    """The edge tokens of the fan-out, once its items may run."""
    child_count: int


def start_of(fan_out: Task) -> TaskRef:
    """Return what all tasks of a fan-out wait for, until all of them are written.

    Each list that it reads has one of its own, and relays of its own.
    """
    name = f"{FAN_PREFIX}{fan_out.ref.task_id}"
    run = fan_out.items_run
    return fan_out.ref.job.task(f"{name}[~r{run}]" if run else name)


def opening_of(
    task: Task, expansion: Expansion, *, now_ms: int
) -> tuple[Transition, Transition, Transition]:
    """Return what is written at once when all of it is stored: of the fan-out, of what its tasks
    wait for, and of its job."""
    added = expansion.child_count
    return (
        open_fan_out(task, waiting_on=expansion.waiting_on, child_count=added),
        settle_start(now_ms=now_ms),
        add_items(added=added, most_before=MAX_WITH_ITEMS - added),
    )


def plan_expansion(
    job: Job,
    task: Task,
    items: Items,
    *,
    template: Payload,
    tolerated: bool,
    of_jobs: bool = False,
) -> Expansion:
    """Return the same for the same items, in whichever run of the task.

    `template` are the data of the fan-out itself. One without items waits for what they would.
    """
    name, start = task.ref.task_id, start_of(task)
    inputs = {item.task_id(name): item.input for item in items.each}
    edges = {start.task_id: tuple(inputs) or (name,), **dict.fromkeys(inputs, (name,))}
    dependents = compile_edges(edges, prefix=relay_prefix(start), suffix="]")
    tokens = tokens_in(dependents, made=inputs, run=task.first_item_run)
    item = _item(task, tolerated=tolerated or task.tolerated, of_jobs=of_jobs)
    relays = [one for one in dependents if one not in edges]
    return Expansion(
        plan=JobPlan(
            job=job,
            tasks=(
                hidden_task(start),
                *(hidden_task(job.ref.task(one), tokens[one]) for one in relays),
                *(_made(item, i, given, tokens[i]) for i, given in inputs.items()),
            ),
            dependents=dependents,
            payloads={
                start.task_id: Payload(input=items.shape),
                **{i: _data(template, given) for i, given in inputs.items()},
            },
        ),
        waiting_on=tokens.get(name, frozenset()),
        child_count=len(inputs),
    )


def _item(task: Task, *, tolerated: bool, of_jobs: bool) -> Task:
    """Return what all tasks of a fan-out have in common."""
    return Task(
        ref=task.ref,
        state=TaskState.WAITING,
        definition=task.definition,
        definition_version=task.definition_version,
        max_attempts=task.max_attempts,
        rule=Rule.ALL_COMPLETED,
        tolerated=tolerated,
        run=task.first_item_run,
        kind=TaskKind.JOB if of_jobs else None,
        items_run=task.items_run if of_jobs else None,
        overrides=task.overrides,
        trace=task.trace,
        queue=task.queue,
        priority=task.priority,
        lease_ms=task.lease_ms,
        limits=task.limits,
    )


def _made(item: Task, task_id: str, given: Json, tokens: frozenset[str]) -> Task:
    """Return the task of an item. Raise `NotExpandable` if its input lacks the value of a key."""
    try:
        limits = resolved_limits(item.limits, given)
    except UnresolvedKey as problem:
        raise NotExpandable(f"input of {task_id}: {problem}") from problem
    return replace(item, ref=item.ref.job.task(task_id), waiting_on=tokens, limits=limits)


def _data(template: Payload, given: Json) -> Payload:
    return Payload(
        input=given,
        depends_on=template.depends_on,
        files=template.files,
        artifacts=template.artifacts,
        commitments=template.commitments,
        metadata=template.metadata,
        scope=template.scope,
    )


def relay_prefix(start: TaskRef) -> str:
    """Return how the ids of the other relays begin; a number and a bracket follow."""
    return f"{start.task_id}[~"


def tokens_in(dependents: Edges, *, made: Collection[str], run: int) -> dict[str, frozenset[str]]:
    """Return what each task waits for: relays are new with each expansion, but those that are
    `made` may have had runs before."""
    return {
        one: frozenset(edge_token(name, run if name in made else FIRST_RUN) for name in parents)
        for one, parents in parents_of(dependents).items()
    }
