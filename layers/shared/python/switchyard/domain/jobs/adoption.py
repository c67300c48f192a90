"""Decides which messages of other producers become tasks: bare ones, which name no job."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from switchyard.domain.ids import TaskRef, bare_task, problem_with_bare_id
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.scheduling.placement import (
    NO_QUEUES,
    NO_WISH,
    Placing,
    limits_or_shared,
)
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Json, Task


@dataclass(frozen=True, slots=True)
class Adoptable:
    ref: TaskRef


@dataclass(frozen=True, slots=True)
class NotAdoptable:
    reason: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """A task to be stored with what its message gave it."""

    task: Task
    input: Json
    context: Mapping[str, Json] = field(default_factory=dict)


def decide_adoption(
    request_id: str, body: Mapping[str, Json], *, tenant: str
) -> Adoptable | NotAdoptable:
    """Decide whether to adopt; `tenant` is the stage's, whatever the body says."""
    if "jobId" in body:
        return NotAdoptable(f"{request_id!r} names a job, which is not ours to make up")
    problem = problem_with_bare_id(request_id)
    if problem:
        return NotAdoptable(problem)
    return Adoptable(bare_task(tenant, request_id))


def adopted_task(
    ref: TaskRef,
    *,
    definition: str,
    pinned: Pinned,
    now_ms: int,
    trace: str | None = None,
    placing: Placing = NO_QUEUES,
    given: Json = None,
) -> Task:
    """Return the task, queued already: the message that it came in is its first wake-up."""
    if not ref.bare:
        raise ValueError(f"{ref.request_id} belongs to a job")
    place = placing.placed(NO_WISH, definition, pinned.terms, max_attempts=pinned.max_attempts)
    return Task(
        ref=ref,
        state=TaskState.QUEUED,
        definition=definition,
        definition_version=pinned.version,
        max_attempts=place.max_attempts,
        queue=place.queue,
        priority=place.priority,
        lease_ms=place.lease_ms,
        limits=limits_or_shared(place.limits, given),
        ready_at_ms=now_ms,
        due_at_ms=now_ms + due.AFTER_QUEUED,
        trace=trace,
    )
