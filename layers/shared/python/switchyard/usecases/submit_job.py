"""Accepts a job: checks it, writes it, opens it, tells the world.

A large one is kept as a document, and written by the dispatcher (`expand_job.py`). Under an
idempotency key, whoever submits again goes on where the first try stopped.
"""

from dataclasses import dataclass, replace

from switchyard.contracts.job_document import JobDocument
from switchyard.contracts.jobs import KEY_HEADER, JobAccepted, SubmitJob, instant
from switchyard.domain.artifacts import document_key
from switchyard.domain.errors import InvalidJob, KeyReused, Problem
from switchyard.domain.graph import MAX_TASKS, TaskSpec, problems_in, roots, unknown_names
from switchyard.domain.ids import JobRef
from switchyard.domain.job import Job
from switchyard.domain.plan import MAX_INLINE_TASKS, JobPlan, Pinned
from switchyard.domain.references import reference_problems
from switchyard.domain.states import JobState
from switchyard.domain.submission_keys import body_hash, problem_with_key
from switchyard.ports import (
    BlobStore,
    Clock,
    DefinitionStore,
    DispatchQueue,
    Ids,
    JobIntake,
    JobStore,
    SubmissionKeys,
)
from switchyard.usecases import job_events
from switchyard.usecases.emitting import Emitter
from switchyard.usecases.task_requests import pinned_definitions, size_problems


@dataclass(frozen=True, kw_only=True)
class Submitter:
    intake: JobIntake
    jobs: JobStore
    definitions: DefinitionStore
    submission_keys: SubmissionKeys
    blobs: BlobStore
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock
    ids: Ids

    def submit(self, tenant: str, request: SubmitJob, *, key: str | None = None) -> JobAccepted:
        """Raise `InvalidJob` with every problem, `KeyReused` when the key stands for another."""
        pinned = self._checked(tenant, request, key)
        job_id, created_at = self._identity(tenant, request, key)
        ref = JobRef(tenant, job_id)
        document = JobDocument(created_at=created_at, pinned=pinned, job=request)
        self._take_in(ref, document, found=self.jobs.find(ref) if key is not None else None)
        return JobAccepted(
            job_id=job_id,
            total_tasks=len(request.tasks),
            root_tasks=roots(_specs(request)),
            created_at=instant(created_at),
        )

    def _checked(self, tenant: str, request: SubmitJob, key: str | None) -> dict[str, Pinned]:
        specs = _specs(request)
        problems = [
            *_key_problems(key),
            *problems_in(specs),
            *size_problems(request, request.tasks),
        ]
        if len(specs) > MAX_TASKS:
            raise InvalidJob(problems)
        pinned = pinned_definitions(tenant, specs, self.definitions)
        problems += [*unknown_names(specs, pinned), *reference_problems(specs)]
        if problems:
            raise InvalidJob(problems)
        return pinned

    def _identity(self, tenant: str, request: SubmitJob, key: str | None) -> tuple[str, int]:
        """The job's id and when it was created: those of the first try under this key."""
        job_id, now_ms = self.ids.new_job_id(), self.clock.now_ms()
        if key is None:
            return job_id, now_ms
        said = body_hash(request.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        taken = self.submission_keys.take(tenant, key, job_id=job_id, body_hash=said, now_ms=now_ms)
        if taken.body_hash != said:
            raise KeyReused(key)
        return taken.job_id, taken.created_at_ms

    def _take_in(self, ref: JobRef, document: JobDocument, *, found: Job | None) -> None:
        """`found` is what an earlier try has made of it."""
        if found is not None and found.state is not JobState.WRITING:
            return
        if found is not None and found.document_key is not None:
            self.dispatches.send([ref])
        elif len(document.job.tasks) > MAX_INLINE_TASKS:
            self._leave_to_the_dispatcher(ref, document)
        else:
            self._write(document.plan(ref))

    def _leave_to_the_dispatcher(self, ref: JobRef, document: JobDocument) -> None:
        """The document first: whoever finds the job finds it too."""
        key = document_key(ref.tenant, ref.job_id)
        content = document.model_dump_json(by_alias=True).encode()
        self.blobs.put(key, content, content_type="application/json")
        self.intake.accept(replace(document.plan(ref).job, document_key=key))
        self.dispatches.send([ref])

    def _write(self, plan: JobPlan) -> None:
        self.intake.write(plan)
        self.intake.open(plan, now_ms=self.clock.now_ms())
        self.emitter.emit(job_events.created(plan.job, plan.visible_tasks, plan.payloads))


def _specs(request: SubmitJob) -> list[TaskSpec]:
    return [task.spec() for task in request.tasks]


def _key_problems(key: str | None) -> list[Problem]:
    problem = problem_with_key(key) if key is not None else None
    return [Problem((KEY_HEADER,), problem)] if problem else []
