"""Adds tasks to a job under way, some at a time, and lets those run that may.

A crash leaves nothing half done: tasks are in the job together with everything that moves them on,
and their due times, or the relay that stands for them, see to events that were not emitted. A
caller that sends the same request again goes on where it stopped.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from switchyard.contracts.jobs import AddTasks, TasksAdded, size_problems
from switchyard.domain.access.limits import WIDEST_CEILINGS, Ceilings
from switchyard.domain.backoff import Backoff
from switchyard.domain.errors import InvalidJob, NotNow, Rejected, Unavailable
from switchyard.domain.fan_out.requests import fan_out_problems_in
from switchyard.domain.ids import END, JobRef
from switchyard.domain.jobs.additions import Group, grouped, perhaps_added, problems_with
from switchyard.domain.jobs.chunk_plan import candidates, plan_chunk
from switchyard.domain.jobs.chunks import Chunk, open_end
from switchyard.domain.jobs.graph import TaskSpec, unknown_names
from switchyard.domain.jobs.job import Job, JobPicture
from switchyard.domain.jobs.limits import MAX_TASKS
from switchyard.domain.jobs.plan import Pinned, payload_of, wish_of
from switchyard.domain.jobs.submission_keys import body_hash
from switchyard.domain.nested_jobs.job_templates import kind_problems
from switchyard.domain.scheduling.placement import Placing
from switchyard.domain.signals.subscriptions import event_problems_in
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import is_free
from switchyard.domain.tasks.task import Payload, Task
from switchyard.ports import (
    BlobStore,
    Clock,
    DefinitionStore,
    DispatchQueue,
    JobStore,
    Payloads,
    TaskAdditions,
)
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.events import job_events, task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.job_files import problems_with_added
from switchyard.usecases.jobs.task_requests import (
    ceiling_problems,
    commitment_problems,
    kinds_of,
    named_definitions,
    pinned,
)
from switchyard.usecases.queues.named_queues import NO_NAMED_QUEUES, NamedQueues

SECONDS: Final = 20  # Lambda ends the call at 30 s, and the caller has to know what was added
PAUSES_SECONDS: Final = tuple(Backoff(first=0.05, longest=0.8).pauses(5))


@dataclass(frozen=True, kw_only=True)
class _Adding:
    """A request that is being carried out."""

    ref: JobRef
    pinned: Mapping[str, Pinned]
    placing: Placing
    until: float
    there: Collection[str]
    """The ids that an earlier try had added to the job."""
    chunks: list[Chunk] = field(default_factory=list)
    """The chunks that are in the job by now."""

    @property
    def tasks(self) -> list[Task]:
        return [task for chunk in self.chunks for task in chunk.tasks if not task.ref.hidden]


@dataclass(frozen=True, kw_only=True)
class TaskAdder:
    jobs: JobStore
    payloads: Payloads
    additions: TaskAdditions
    blobs: BlobStore
    definitions: DefinitionStore
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock
    open_tasks: OpenTaskLimit
    ceilings: Ceilings = WIDEST_CEILINGS
    queues: NamedQueues = NO_NAMED_QUEUES

    def add(self, ref: JobRef, request: AddTasks) -> TasksAdded:
        """Answer which were added, and why not the others. Raise if none was.

        They are added in chunks; what one of them needs is in the job before it.
        """
        until = self.clock.monotonic() + SECONDS
        picture = self.jobs.picture(ref)
        specs = [task.spec() for task in request.tasks]
        there = self._there(specs, picture)
        if specs and len(there) == len(specs):
            return _answer_again(picture.job, there)
        open_end(picture.job, next((t for t in picture.tasks if t.ref.task_id == END), None))
        pins, placing = self._checked(request, specs, picture, there)
        adding = _Adding(ref=ref, pinned=pins, placing=placing, until=until, there=there)
        missing = [spec for spec in specs if spec.task_id not in there]
        self.open_tasks.take_more(picture.job, added=len(missing))
        failure = None
        try:
            for group in grouped(missing, number=picture.job.additions + 1):
                adding.chunks.append(self._added(adding, group))
                self._let_run(adding.chunks[-1])
        except (Rejected, Unavailable) as error:
            if not adding.tasks:
                raise
            failure = error if len(adding.tasks) < len(missing) else None
        return _answer(adding, failure)

    def _there(self, specs: Sequence[TaskSpec], picture: JobPicture) -> Collection[str]:
        """Return the specs that the job has already, just as they are asked for."""
        perhaps = perhaps_added(specs, picture)
        given = self.payloads.read_many([picture.job.ref.task(name) for name in perhaps])
        return {
            name: spec
            for name, spec in perhaps.items()
            if _said(given[name]) == _said(payload_of(spec))
        }

    def _checked(
        self,
        request: AddTasks,
        specs: Sequence[TaskSpec],
        picture: JobPicture,
        there: Collection[str],
    ) -> tuple[Mapping[str, Pinned], Placing]:
        problems = [
            *problems_with(specs, picture, added=there),
            *size_problems(request),
            *fan_out_problems_in(specs),
            *event_problems_in(specs),
        ]
        if len(specs) > MAX_TASKS:
            raise InvalidJob(problems)
        definitions = named_definitions(picture.job.ref.tenant, specs, self.definitions)
        of_those = {spec.name for spec in specs if spec.task_id in there}
        problems += unknown_names(specs, definitions.keys() | of_those)
        problems += kind_problems(specs, kinds_of(definitions))
        problems += ceiling_problems(specs, definitions, self.ceilings)
        problems += commitment_problems(specs, definitions, self.ceilings)
        problems += problems_with_added(specs, picture.job, self.blobs)
        wish = wish_of(picture.job)
        queues, wrong = self.queues.checked(picture.job.ref.tenant, specs, definitions, wish)
        problems += wrong
        if problems:
            raise InvalidJob(problems)
        return pinned(definitions), Placing(queues=queues, wish=wish)

    def _added(self, adding: _Adding, group: Group) -> Chunk:
        """Read, plan, write; all over again if something has changed in between."""
        at_ms, names = self.clock.now_ms(), group.parents
        for pause in PAUSES_SECONDS:
            if self.clock.monotonic() >= adding.until:
                raise NotNow("there was not time enough; add the others now")
            chunk = self._planned(adding, group, names, at_ms)
            if chunk is not None and self._written(chunk, adding.until):
                return chunk
            names = group.parents | group.names  # another request may have added the same
            self.clock.sleep(pause)
        raise NotNow(f"{adding.ref.job_id} changes too fast; try again in a moment")

    def _planned(
        self, adding: _Adding, group: Group, names: frozenset[str], at_ms: int
    ) -> Chunk | None:
        seen = self.additions.chunk_context(adding.ref, names)
        crowd = candidates(seen.end) if seen.end else ()
        if crowd:
            seen = self.additions.chunk_context(adding.ref, names.union(crowd))
        return plan_chunk(group, seen, pinned=adding.pinned, at_ms=at_ms, placing=adding.placing)

    def _written(self, chunk: Chunk, until: float) -> bool:
        """Write the chunk; after an outage try the very same, since the first may have arrived."""
        for pause in PAUSES_SECONDS:
            try:
                return self.additions.add(chunk)
            except Unavailable:
                if self.clock.monotonic() >= until:
                    raise
                self.clock.sleep(pause)
        return self.additions.add(chunk)

    def _let_run(self, chunk: Chunk) -> None:
        """Emit the chunk's events before its tasks run, since their runs emit further events."""
        visible = [task for task in chunk.tasks if not task.ref.hidden]
        skipped = [task for task in visible if task.state is TaskState.SKIPPED]
        if visible:
            added = job_events.tasks_added(
                chunk.job.ref,
                chunk.added,
                number=chunk.number,
                tasks=visible,
                payloads=chunk.payloads,
            )
            self.emitter.emit(added, *[task_events.settled(t, output=None) for t in skipped])
        decided = [t for t in chunk.tasks if t.state is not TaskState.WAITING or is_free(t)]
        self.dispatches.send([task.this_run for task in decided if task not in skipped])


def _said(payload: Payload) -> str:
    """Return what stands for all that a producer says of a task's data."""
    given = [payload.input, payload.when, payload.hold, payload.files, payload.artifacts]
    return body_hash([*given, payload.commitments, payload.fan_out, dict(payload.metadata)])


def _reason(error: Rejected | Unavailable) -> str:
    if isinstance(error, Rejected):
        return str(error)
    return "something that Switchyard needs did not answer; add the others in a moment"


def _answer(adding: _Adding, failure: Rejected | Unavailable | None) -> TasksAdded:
    tasks = adding.tasks
    return TasksAdded(
        job_id=adding.ref.job_id,
        added_tasks=(*adding.there, *(task.ref.task_id for task in tasks)),
        immediately_ready=tuple(t.ref.task_id for t in tasks if t.state is TaskState.READY),
        total_tasks_now=adding.chunks[-1].added.total,
        problem=_reason(failure) if failure else None,
        try_again=isinstance(failure, NotNow | Unavailable),
    )


def _answer_again(job: Job, there: Collection[str]) -> TasksAdded:
    return TasksAdded(
        job_id=job.ref.job_id,
        added_tasks=tuple(there),
        immediately_ready=(),
        total_tasks_now=job.total_tasks,
    )
