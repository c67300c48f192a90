"""Accepts a job: checks it, writes it, opens it, tells the world."""

from collections.abc import Sequence
from typing import Final

from switchyard.contracts.jobs import JobAccepted, SubmitJob, TaskRequest, instant
from switchyard.domain.errors import InvalidJob, Problem
from switchyard.domain.graph import TaskSpec, problems_in, roots, unknown_names
from switchyard.domain.ids import JobRef
from switchyard.domain.plan import plan_job
from switchyard.ports import Clock, DefinitionStore, Ids, JobIntake
from switchyard.usecases import job_events
from switchyard.usecases.emitting import Emitter

# API Gateway takes 10 MB, a function 6 MB: with the body as a text whose quotes are escaped.
MAX_DOCUMENT_BYTES: Final = 5_000_000


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
    emitter.emit(job_events.created(plan.job, plan.visible_tasks, plan.payloads))
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
    sizes = [_bytes_of_input(task) for task in request.tasks]
    largest = max(sizes)
    message = (
        f"has {largest:,} of the job's {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are accepted"
    )
    return [Problem(("tasks", sizes.index(largest), "input"), message)]


def _bytes_of_input(task: TaskRequest) -> int:
    return len(task.model_dump_json(include={"input"}).encode())
