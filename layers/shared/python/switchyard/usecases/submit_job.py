"""Accepts a job: checks it, writes it, opens it, tells the world."""

from collections.abc import Sequence
from typing import Final

from switchyard.contracts.events import CreatedTask, JobCreated
from switchyard.contracts.jobs import JobAccepted, SubmitJob, instant
from switchyard.domain.errors import InvalidJob, Problem
from switchyard.domain.graph import TaskSpec, problems_in, roots, unknown_names
from switchyard.domain.ids import JobRef
from switchyard.domain.plan import JobPlan, plan_job
from switchyard.ports import Clock, DefinitionStore, Ids, JobIntake
from switchyard.usecases.emitting import Emitter, Fact

MAX_DOCUMENT_BYTES: Final = 200_000  # Job Created tells the whole job in one event


def submit_job(
    tenant: str,
    request: SubmitJob,
    *,
    intake: JobIntake,
    definitions: DefinitionStore,
    emitter: Emitter,
    clock: Clock,
    ids: Ids,
) -> JobAccepted:
    specs = [task.spec() for task in request.tasks]
    versions = _checked_versions(tenant, request, specs, definitions)
    ref = JobRef(tenant, ids.new_job_id())
    plan = plan_job(
        ref,
        name=request.name,
        tags=request.tags,
        specs=specs,
        versions=versions,
        now_ms=clock.now_ms(),
    )
    intake.write(plan)
    intake.open(plan, now_ms=clock.now_ms())
    emitter.emit(_created(plan, specs))
    return JobAccepted(
        job_id=ref.job_id,
        total_tasks=len(specs),
        root_tasks=roots(specs),
        created_at=instant(plan.job.created_at_ms),
    )


def _checked_versions(
    tenant: str, request: SubmitJob, specs: Sequence[TaskSpec], definitions: DefinitionStore
) -> dict[str, int]:
    problems = [*problems_in(specs), *_size_problems(request)]
    known = definitions.latest(tenant, {spec.name for spec in specs})
    versions = {name: definition.version for name, definition in known.items()}
    problems += unknown_names(specs, versions)
    if problems:
        raise InvalidJob(problems)
    return versions


def _size_problems(request: SubmitJob) -> list[Problem]:
    size = len(request.model_dump_json(by_alias=True).encode())
    if size <= MAX_DOCUMENT_BYTES:
        return []
    return [Problem((), f"the job is {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are accepted")]


def _created(plan: JobPlan, specs: Sequence[TaskSpec]) -> Fact:
    job = plan.job
    told = JobCreated(
        job_id=job.ref.job_id,
        request_id=job.ref.job_id,
        run=job.run,
        total_tasks=job.total_tasks,
        tasks=tuple(
            CreatedTask(
                task_id=spec.task_id, name=spec.name, depends_on=spec.depends_on, input=spec.input
            )
            for spec in specs
        ),
    )
    return Fact(job.ref.tenant, told, job.created_at_ms)
