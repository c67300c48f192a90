"""The tasks that a job makes of its template, and how it ends when they have settled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from switchyard.domain.fan_out.gathering import failed
from switchyard.domain.fan_out.items import MAX_CHARACTERS, NotExpandable
from switchyard.domain.fan_out.plan import Expansion, relay_prefix, start_of, tokens_in
from switchyard.domain.fan_out.templates import filled
from switchyard.domain.ids import LONGEST_FAN_OUT, LONGEST_ITEM, in_scope, local_name
from switchyard.domain.jobs.graph import TaskSpec, dependents_of, sinks
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import JobPlan, hidden_task, new_task, payload_of
from switchyard.domain.jobs.relays import compile_edges
from switchyard.domain.nested_jobs.job_templates import JobTemplate, with_list_of_template
from switchyard.domain.prompts.references import (
    UnresolvedReference,
    as_text,
    references_in,
    resolve,
)
from switchyard.domain.scheduling.placement import NO_QUEUES, Placing
from switchyard.domain.states import Rule, TaskState
from switchyard.domain.tasks.readiness import Shortfall
from switchyard.domain.tasks.task import Json, Outcome, Payload, Task

_SHOWN: Final = 60
_NO_FAILURES: Final = frozenset({TaskState.COMPLETED, TaskState.SKIPPED})


def specs_of(template: JobTemplate, given: Json, *, job_task: str) -> tuple[TaskSpec, ...]:
    """Return the template's tasks under the ids that they have in the job, filled with its input.

    Their texts call each other by the names in the template. Raise `NotExpandable`.
    """
    specs = tuple(_spec(with_list_of_template(one), given, job_task) for one in template.tasks)
    if sum(len(as_text(spec.input)) for spec in specs) > MAX_CHARACTERS:
        raise NotExpandable(
            f"input: with it those of the {len(specs)} tasks have more than {MAX_CHARACTERS:,} "
            "characters; let each refer to what it needs instead"
        )
    return specs


def _spec(spec: TaskSpec, given: Json, job_task: str) -> TaskSpec:
    name = in_scope(job_task, spec.task_id)
    longest = LONGEST_ITEM if spec.fan_out is None and not spec.nested else LONGEST_FAN_OUT
    if len(name) > longest:
        raise NotExpandable(
            f"taskId: {name[:_SHOWN]}… would have {len(name)} characters, and may have {longest}; "
            "choose shorter ids"
        )
    try:
        value = filled(spec.input, {"input": given})
    except UnresolvedReference as problem:
        raise NotExpandable(f"input of {spec.task_id}: {problem}") from problem
    parents = tuple(in_scope(job_task, parent) for parent in spec.depends_on)
    return replace(spec, task_id=name, input=value, depends_on=parents)


def plan_job_task(
    job: Job, task: Task, template: JobTemplate, given: Json, *, placing: Placing = NO_QUEUES
) -> Expansion:
    """Return the same for the same input, in whichever run of the task. Raise `NotExpandable`.

    Each of the tasks waits for the start as well, also one that has parents: until all of them are
    written, none is decided or cancelled. And the job waits for each, not for the last ones only:
    one that is redriven may be followed by others that have completed and stay.
    """
    name, start = task.ref.task_id, start_of(task)
    specs = specs_of(template, given, job_task=name)
    inner = dependents_of(specs)
    edges = {
        start.task_id: tuple(inner),
        **{parent: (*after, name) for parent, after in inner.items()},
    }
    dependents = compile_edges(edges, prefix=relay_prefix(start), suffix="]")
    tokens = tokens_in(dependents, made=inner, run=task.first_item_run)
    relays = [one for one in dependents if one not in edges]
    return Expansion(
        plan=JobPlan(
            job=job,
            tasks=(
                hidden_task(start),
                *(hidden_task(job.ref.task(one), tokens[one]) for one in relays),
                *(
                    _task(job, task, spec, template, tokens[spec.task_id], placing)
                    for spec in specs
                ),
            ),
            dependents=dependents,
            payloads={
                start.task_id: Payload(input=[local_name(spec.task_id) for spec in specs]),
                **{spec.task_id: replace(payload_of(spec), scope=name) for spec in specs},
            },
        ),
        waiting_on=tokens[name],
        child_count=len(specs),
    )


def _task(
    job: Job,
    task: Task,
    spec: TaskSpec,
    template: JobTemplate,
    tokens: frozenset[str],
    placing: Placing,
) -> Task:
    """A rule that counts parents counts the start, which always completes, only without others."""
    asking = replace(job, queue=task.queue, priority=task.priority)
    made = new_task(asking, spec, template.pinned, tokens, placing=placing)
    counted = max(1, len(spec.depends_on)) if spec.rule is Rule.ANY_COMPLETED else 0
    return replace(
        made,
        tolerated=task.tolerated,
        parent_count=counted,
        trace=task.trace,
        run=task.first_item_run,
        items_run=task.items_run if made.fans_out else None,
    )


def ended(states: Mapping[str, TaskState]) -> Outcome:
    """Return how a job ends whose tasks, by their ids, ended so: as a job by itself would."""
    lost = [name for name, state in states.items() if state not in _NO_FAILURES]
    if not lost:
        return Outcome(state=TaskState.COMPLETED)
    return failed(f"{len(lost):,} of {len(states):,} tasks {Shortfall.of(lost)}")


def tasks_returned(template: JobTemplate) -> Sequence[str]:
    """Return the tasks, by their names in the template, whose outputs its output is made of."""
    if template.output is None:
        return sinks(template.tasks)
    named = [reference.task_id for reference in references_in(template.output)]
    return list(dict.fromkeys(named))


def returned(template: JobTemplate, outputs: Mapping[str, Json]) -> Json:
    """Return the output of a job whose tasks, by their names in the template, made these.

    Raise `UnresolvedReference`.
    """
    if template.output is None:
        return {name: outputs.get(name) for name in sinks(template.tasks)}
    return resolve(template.output, outputs)
