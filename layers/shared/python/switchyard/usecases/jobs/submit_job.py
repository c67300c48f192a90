"""Accepts a job: checks it, writes it, opens it, emits its event.

A large one is stored as a document, and written by the dispatcher (`expand_job.py`). Under an
idempotency key, a second submission goes on where the first one stopped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from switchyard.contracts.job_document import JobDocument
from switchyard.contracts.jobs import KEY_HEADER, JobAccepted, SubmitJob, size_problems
from switchyard.contracts.notify import notify_problems
from switchyard.contracts.wire import instant
from switchyard.domain.access.limits import WIDEST_CEILINGS, Ceilings
from switchyard.domain.access.tenants import channel_problems
from switchyard.domain.errors import InvalidJob, KeyReused, NotNow, Problem
from switchyard.domain.fan_out.requests import fan_out_problems_in
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.file_checks import references_elsewhere
from switchyard.domain.jobs.graph import TaskSpec, problems_in, roots, unknown_names
from switchyard.domain.jobs.limits import MAX_INLINE_TASKS, MAX_TASKS
from switchyard.domain.jobs.plan import JobPlan, Pinned
from switchyard.domain.jobs.submission_keys import KeyKind, body_hash, problem_with_key
from switchyard.domain.measuring.spans import TraceParent, trace_given
from switchyard.domain.nested_jobs.job_templates import kind_problems
from switchyard.domain.prompts.artifacts import document_key
from switchyard.domain.prompts.references import reference_problems
from switchyard.domain.prompts.schema_checks import impossible_references
from switchyard.domain.scheduling.placement import Wish
from switchyard.domain.scheduling.work_queues import WorkQueue
from switchyard.domain.signals.subscriptions import event_problems_in
from switchyard.domain.states import JobState
from switchyard.domain.triggers.triggers import reserved_tags
from switchyard.ports import (
    BlobStore,
    Clock,
    DefinitionStore,
    DispatchQueue,
    Ids,
    JobIntake,
    JobStore,
    KeyTaken,
    SubmissionKeys,
    TenantStore,
)
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.events import job_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.job_files import problems_with_files, store_job_files
from switchyard.usecases.jobs.task_requests import (
    ceiling_problems,
    checked_outputs,
    commitment_problems,
    kinds_of,
    named_definitions,
    pinned,
)
from switchyard.usecases.queues.named_queues import NO_NAMED_QUEUES, NamedQueues

MOST_PINS: Final = 100  # an idempotency key remembers of its job; most have a handful


@dataclass(frozen=True)
class _Submission:
    """A submission as it was asked for."""

    tenant: str
    request: SubmitJob
    key: str | None
    kind: KeyKind
    trace: str | None
    """The trace context, no part of the request: a second try is often in another span."""

    @cached_property
    def said(self) -> str:
        return body_hash(self.request.model_dump(mode="json", by_alias=True, exclude_defaults=True))

    def require_same(self, taken: KeyTaken) -> None:
        if self.key and self.kind is KeyKind.PRODUCER and taken.body_hash != self.said:
            raise KeyReused(self.key)

    def require_ours(self, taken: KeyTaken) -> None:
        if self.key and taken.body_hash != self.said:
            raise NotNow(f"another try has just begun {taken.job_id}")


@dataclass(frozen=True, kw_only=True)
class Submitter:
    intake: JobIntake
    jobs: JobStore
    definitions: DefinitionStore
    submission_keys: SubmissionKeys
    tenants: TenantStore
    open_tasks: OpenTaskLimit
    blobs: BlobStore
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock
    ids: Ids
    ceilings: Ceilings = WIDEST_CEILINGS
    webhooks_may_reach_private: bool = False
    queues: NamedQueues = NO_NAMED_QUEUES

    def submit(
        self,
        tenant: str,
        request: SubmitJob,
        *,
        key: str | None = None,
        kind: KeyKind = KeyKind.PRODUCER,
        traceparent: str | None = None,
    ) -> JobAccepted:
        """Raise `InvalidJob` with every problem, `KeyReused` when the key stands for another.

        A `traceparent` that makes no sense is as good as none.
        """
        trace = traceparent if TraceParent.parse(traceparent) else None
        submission = _Submission(tenant, request, key, kind, trace)
        earlier = self._accepted_before(submission)
        if earlier is not None:
            return _answer(tenant, request, earlier, repeated=True)
        pins, queues = self._checked(tenant, request, key, kind)
        taken = self._identity(submission, pins)
        ref = JobRef(tenant, taken.job_id)
        repeated = key is not None and self._is_in(ref)
        if not repeated:
            submission.require_ours(taken)
            self.open_tasks.take(ref, tasks=len(request.tasks))
            document = JobDocument.of(
                request,
                created_at=taken.created_at_ms,
                pinned=taken.pinned or pins,
                trace=taken.trace,
                queues=dict(queues) or None,
            )
            self._take_in(ref, document)
        return _answer(tenant, request, taken, repeated=repeated)

    def _accepted_before(self, asked: _Submission) -> KeyTaken | None:
        """Return the job of an earlier try that this one has nothing to add to."""
        if asked.key is None or problem_with_key(asked.key):
            return None
        now_ms = self.clock.now_ms()
        taken = self.submission_keys.find(asked.tenant, asked.key, now_ms=now_ms, kind=asked.kind)
        if taken is None:
            return None
        asked.require_same(taken)
        return taken if self._is_in(JobRef(asked.tenant, taken.job_id)) else None

    def _checked(
        self, tenant: str, request: SubmitJob, key: str | None, kind: KeyKind
    ) -> tuple[dict[str, Pinned], Mapping[str, WorkQueue]]:
        specs = _specs(request)
        problems = [
            *_key_problems(key),
            *(reserved_tags(request.tags) if kind is KeyKind.PRODUCER else ()),
            *notify_problems(request.notify, nearby_allowed=self.webhooks_may_reach_private),
            *self._channel_problems(tenant, request),
            *problems_in(specs),
            *size_problems(request),
            *self._file_problems(tenant, request, kind),
            *fan_out_problems_in(specs),
            *event_problems_in(specs),
        ]
        if len(specs) > MAX_TASKS:
            raise InvalidJob(problems)
        definitions = named_definitions(tenant, specs, self.definitions)
        problems += [
            *unknown_names(specs, definitions),
            *kind_problems(specs, kinds_of(definitions)),
            *ceiling_problems(specs, definitions, self.ceilings),
            *commitment_problems(
                specs,
                definitions,
                self.ceilings,
                nearby_allowed=self.webhooks_may_reach_private,
            ),
            *reference_problems(specs, elsewhere=references_elsewhere(specs)),
            *impossible_references(specs, checked_outputs(definitions)),
        ]
        wish = Wish(queue=request.queue, priority=request.priority)
        queues, wrong = self.queues.checked(tenant, specs, definitions, wish)
        problems += wrong
        if problems:
            raise InvalidJob(problems)
        return pinned(definitions), queues

    def _file_problems(self, tenant: str, request: SubmitJob, kind: KeyKind) -> list[Problem]:
        if request.files and kind is not KeyKind.PRODUCER:
            return [Problem(("files",), "a job that a trigger starts has no files: they expire")]
        return problems_with_files(tenant, request.files, _specs(request), self.blobs)

    def _channel_problems(self, tenant: str, request: SubmitJob) -> list[Problem]:
        channel = request.notify.channel if request.notify else None
        if channel is None:
            return []
        return channel_problems(channel, self.tenants.find(tenant), tenant=tenant)

    def _identity(self, asked: _Submission, pins: Mapping[str, Pinned]) -> KeyTaken:
        """The job's id, when it was created, and of what: those of the first try under its key."""
        job_id, now_ms = self.ids.new_job_id(), self.clock.now_ms()
        if asked.key is None:
            return KeyTaken(job_id=job_id, body_hash="", created_at_ms=now_ms, trace=asked.trace)
        ours = KeyTaken(
            job_id=job_id,
            body_hash=asked.said,
            created_at_ms=now_ms,
            pinned=pins if len(pins) <= MOST_PINS else None,
            trace=asked.trace,
        )
        taken = self.submission_keys.take(asked.tenant, asked.key, ours, kind=asked.kind)
        asked.require_same(taken)
        if taken.body_hash == asked.said:
            return taken
        return self.submission_keys.take_over(
            asked.tenant, asked.key, ours, instead_of=taken.job_id, kind=asked.kind
        )

    def _is_in(self, ref: JobRef) -> bool:
        """Return whether an earlier try has left nothing to do but to wake the dispatcher."""
        found = self.jobs.find(ref)
        if found is None:
            return False
        if found.state is JobState.WRITING and found.document_key is not None:
            self.dispatches.send([ref])
            return True
        return found.state is not JobState.WRITING

    def _take_in(self, ref: JobRef, document: JobDocument) -> None:
        store_job_files(ref, document.job.files, self.blobs)
        if len(document.job.tasks) > MAX_INLINE_TASKS:
            self._leave_to_the_dispatcher(ref, document)
        else:
            self._write(document.plan(ref))

    def _leave_to_the_dispatcher(self, ref: JobRef, document: JobDocument) -> None:
        """Store the document first: a reader of the job finds it too."""
        key = document_key(ref.tenant, ref.job_id)
        content = document.model_dump_json(by_alias=True).encode()
        self.blobs.put(key, content, content_type="application/json")
        self.intake.accept(replace(document.plan(ref).job, document_key=key))
        self.dispatches.send([ref])

    def _write(self, plan: JobPlan) -> None:
        self.intake.write(plan)
        self.intake.open(plan, now_ms=self.clock.now_ms())
        self.emitter.emit(job_events.created(plan.job, plan.visible_tasks, plan.payloads))


def _answer(tenant: str, request: SubmitJob, taken: KeyTaken, *, repeated: bool) -> JobAccepted:
    return JobAccepted(
        job_id=taken.job_id,
        total_tasks=len(request.tasks),
        root_tasks=roots(_specs(request)),
        created_at=instant(taken.created_at_ms),
        trace_id=trace_given(JobRef(tenant, taken.job_id), taken.trace).trace_id,
        repeated=repeated,
    )


def _specs(request: SubmitJob) -> list[TaskSpec]:
    return [task.spec() for task in request.tasks]


def _key_problems(key: str | None) -> list[Problem]:
    problem = problem_with_key(key) if key is not None else None
    return [Problem((KEY_HEADER,), problem)] if problem else []
