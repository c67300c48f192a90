"""The tasks that a fan-out makes, and the relays between it and them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from switchyard.domain.fan_out.items import Items
from switchyard.domain.ids import FAN_PREFIX, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.jobs.plan import FIRST_RUN, JobPlan, hidden_task
from switchyard.domain.jobs.relays import compile_edges, parents_of
from switchyard.domain.jobs.transitions import add_items
from switchyard.domain.states import Rule, TaskState
from switchyard.domain.tasks.fan_out_transitions import open_fan_out
from switchyard.domain.tasks.task import Json, Payload, Task, edge_token
from switchyard.domain.tasks.transitions import settle_start
from switchyard.domain.transition import Transition


@dataclass(frozen=True, slots=True)
class Expansion:
    """Everything that is written for a fan-out before its tasks may run."""

    plan: JobPlan
    waiting_on: frozenset[str]
    """What the fan-out waits for, once they may."""
    child_count: int


def start_of(fan_out: Task) -> TaskRef:
    """Return what all tasks of a fan-out wait for, until all of them are written.

    Each list that it reads has one of its own, and relays of its own.
    """
    name = f"{FAN_PREFIX}{fan_out.ref.task_id}"
    run = fan_out.items_run
    return fan_out.ref.job.task(f"{name}[r{run}]" if run else name)


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
    job: Job, task: Task, items: Items, *, template: Payload, tolerated: bool
) -> Expansion:
    """Return the same for the same items, in whichever run of the task.

    `template` are the data of the fan-out itself. One without items waits for what they would.
    """
    name, start = task.ref.task_id, start_of(task)
    inputs = {item.task_id(name): item.input for item in items.each}
    edges = {start.task_id: tuple(inputs) or (name,), **dict.fromkeys(inputs, (name,))}
    dependents = compile_edges(edges, prefix=f"{start.task_id}[", suffix="]")
    runs = dict.fromkeys(inputs, task.first_item_run)
    tokens = {one: _tokens(parents, runs) for one, parents in parents_of(dependents).items()}
    item = _item(task, tolerated=tolerated)
    relays = [one for one in dependents if one not in edges]
    return Expansion(
        plan=JobPlan(
            job=job,
            tasks=(
                hidden_task(start),
                *(hidden_task(job.ref.task(one), tokens[one]) for one in relays),
                *(replace(item, ref=job.ref.task(i), waiting_on=tokens[i]) for i in inputs),
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


def _item(task: Task, *, tolerated: bool) -> Task:
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
        overrides=task.overrides,
        trace=task.trace,
    )


def _data(template: Payload, given: Json) -> Payload:
    return Payload(
        input=given,
        depends_on=template.depends_on,
        files=template.files,
        artifacts=template.artifacts,
    )


def _tokens(parents: Iterable[str], runs: Mapping[str, int]) -> frozenset[str]:
    """Relays are new with each list; items may have had runs before."""
    return frozenset(edge_token(parent, runs.get(parent, FIRST_RUN)) for parent in parents)
