"""A validated job as the items that will be written for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from switchyard.domain import due
from switchyard.domain.graph import TaskSpec, dependents_of, roots, sinks
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.job import Job
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.task import Payload, Tags, Task, edge_token

FIRST_RUN = 1
NO_DEFINITION = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    job: Job
    tasks: tuple[Task, ...]
    dependents: Mapping[str, tuple[str, ...]]
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
    versions: Mapping[str, int],
    now_ms: int,
) -> JobPlan:
    job = Job(
        ref=ref,
        name=name,
        state=JobState.WRITING,
        total_tasks=len(specs),
        created_at_ms=now_ms,
        tags=tags,
        due_at_ms=now_ms + due.JOB_BEING_WRITTEN,
    )
    visible = [_task(ref, spec, versions[spec.name]) for spec in specs]
    start = _hidden(ref, START, Rule.ALL_COMPLETED, waits_for=())
    end = _hidden(ref, END, Rule.ALL_SETTLED, waits_for=sinks(specs))
    return JobPlan(
        job=job,
        tasks=(start, *visible, end),
        dependents=_edges(specs),
        payloads={
            spec.task_id: Payload(input=spec.input, depends_on=spec.depends_on) for spec in specs
        },
    )


def _task(ref: JobRef, spec: TaskSpec, version: int) -> Task:
    return Task(
        ref=ref.task(spec.task_id),
        state=TaskState.WAITING,
        definition=spec.name,
        definition_version=version,
        rule=spec.rule,
        waiting_on=_tokens(spec.depends_on or (START,)),
    )


def _hidden(ref: JobRef, task_id: str, rule: Rule, *, waits_for: Sequence[str]) -> Task:
    return Task(
        ref=ref.task(task_id),
        state=TaskState.WAITING,
        definition=NO_DEFINITION,
        definition_version=0,
        rule=rule,
        waiting_on=_tokens(waits_for),
    )


def _edges(specs: Sequence[TaskSpec]) -> dict[str, tuple[str, ...]]:
    declared = dependents_of(specs)
    return {
        START: roots(specs),
        **{task_id: children or (END,) for task_id, children in declared.items()},
    }


def _tokens(parents: Sequence[str]) -> frozenset[str]:
    return frozenset(edge_token(parent, FIRST_RUN) for parent in parents)
