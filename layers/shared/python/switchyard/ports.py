"""The roles that the outside world plays for the use cases.

Every adapter of a port keeps the promises written here; `tests/contract` holds each to them.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.contracts.events import Event, KeptEvent
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.claims import Busy, Done, Exhausted, Flagged, NotYet
from switchyard.domain.event_queries import EventQuery
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.job import Job, JobPicture
from switchyard.domain.plan import JobPlan
from switchyard.domain.readiness import Verdict
from switchyard.domain.states import JobState
from switchyard.domain.task import Json, Lease, Outcome, Payload, Task


class Clock(Protocol):
    def now_ms(self) -> int: ...

    def monotonic(self) -> float:
        """Seconds on a clock that nobody sets."""

    def sleep(self, seconds: float) -> None: ...


Sleep = Callable[[float], Awaitable[None]]
"""Waits, in seconds, without holding up the event loop."""


class Ids(Protocol):
    def new_job_id(self) -> str: ...

    def new_worker_id(self) -> str: ...

    def new_secret(self) -> str: ...


class Randomness(Protocol):
    def between(self, low: float, high: float) -> float: ...


@dataclass(frozen=True, slots=True)
class PageOfJobs:
    jobs: tuple[Job, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class JobIntake(Protocol):
    """Takes in new jobs."""

    def write(self, plan: JobPlan) -> None:
        """Store everything of a job that is still WRITING. Nothing of it can run yet."""

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        """The commit point: WRITING becomes OPEN and `__start__` is settled, in one write.

        From then on the job is listed. Raise `Conflict` when it was opened already.
        """


class JobStore(Protocol):
    """Remembers jobs. Every read is consistent, except `page`, which lists."""

    def find(self, ref: JobRef) -> Job | None: ...

    def picture(self, ref: JobRef) -> JobPicture:
        """The job with all its tasks. Raise `UnknownJob`."""

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        """Newest first. Raise `Rejected` for a cursor that is not one of ours."""

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        """Remember the first failure of this run; return the job with whichever was first."""

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        """OPEN becomes `state`; if this run was settled already, return the job as it is."""


@dataclass(frozen=True, slots=True)
class Claimed:
    task: Task
    lease: Lease


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the lease was not taken, and the task as it was read."""

    task: Task
    decision: Busy | Done | NotYet | Exhausted | Flagged


class TaskLeases(Protocol):
    """Decides who runs a task. Each method is one conditional write on the control item."""

    def claim(
        self, ref: TaskRef, *, owner: str, now_ms: int, lease_ms: int
    ) -> Claimed | Refused | None:
        """Take the lease, or say why not; `None` for a task that does not exist."""

    def renew(self, lease: Lease, *, lease_until_ms: int) -> Task:
        """Keep the lease; return the task, which may be flagged. Raise `LeaseLost`."""

    def settle(self, lease: Lease, outcome: Outcome, *, output: Json, now_ms: int) -> Task:
        """Store the outcome and all its event will contain. Raise `LeaseLost`."""

    def release(
        self,
        lease: Lease,
        *,
        not_before_ms: int,
        now_ms: int,
        give_attempt_back: bool,
        error: str | None = None,
    ) -> Task:
        """Hand the task back as QUEUED. Raise `LeaseLost`."""

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        """Settle a task that nobody holds (exhausted, cancelled), on the fence as read."""


class TaskGraph(Protocol):
    """A job's edges and the steps of its tasks before they run."""

    def find(self, ref: TaskRef) -> Task | None: ...

    def dependents(self, ref: TaskRef) -> tuple[str, ...]: ...

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        """The tasks by task id, read consistently."""

    def remove_edge(self, ref: TaskRef, token: str, *, completed: bool) -> Task:
        """Take `token` out of `waiting_on`; if it is gone already, change nothing.

        Either way return the task as it is now.
        """

    def decide(self, task: Task, verdict: Verdict, *, now_ms: int) -> Task | None:
        """WAITING with nothing left becomes the verdict's state; `None` if somebody was faster."""

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        """READY becomes QUEUED; nothing happens when a worker was faster."""

    def clear_due(self, task: Task) -> None:
        """Forget the due time, unless the task changed since it was read."""


@dataclass(frozen=True, slots=True)
class PageOfOverdue:
    refs: tuple[TaskRef | JobRef, ...]
    cursor: str | None
    """Where the next page begins; `None` on the last."""


class Overdue(Protocol):
    """Finds what is unsettled or undispatched and past its due time.

    A page may lag behind: whoever acts on it reads the thing consistently first.
    """

    def page(self, shard: int, *, now_ms: int, limit: int, cursor: str | None) -> PageOfOverdue:
        """What is due by `now_ms` in one of the `DUE_SHARDS`, longest overdue first."""

    def move_due(self, overdue: Task | Job, due_at_ms: int, *, count: bool = False) -> bool:
        """Put the due time off and `count` it in `resends`; `False` if it is not as read."""

    def abandon(self, job: Job) -> bool:
        """Forget the due time of a job that is still WRITING; `False` if it is not as read.

        A submission that goes on after all can still open the job, which gives it a new one.
        """


class Payloads(Protocol):
    """Inputs and outputs of tasks, wherever they are kept."""

    def read(self, ref: TaskRef) -> Payload:
        """An empty payload for a task that has none."""

    def outputs(self, job: JobRef, task_ids: Sequence[str]) -> Mapping[str, Json]:
        """The outputs of those that completed, in the order asked for."""


class DefinitionStore(Protocol):
    """Versioned task definitions; a version never changes."""

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        """A new version; the same content as the latest keeps its version. Raise `Conflict`."""

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        """Those of `names` that exist."""

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        """Raise `UnknownDefinition`."""

    def all(self, tenant: str) -> tuple[RegisteredDefinition, ...]:
        """The latest of each, by name."""


class ApiKeys(Protocol):
    """Who may call the API. Only hashes are kept."""

    def add(self, tenant: str, key_hash: str, *, now_ms: int) -> None: ...

    def knows(self, tenant: str, key_hash: str) -> bool: ...


class TaskQueue(Protocol):
    """Wakes workers; decides nothing."""

    def send(self, messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        """Send all, or raise `Unavailable`: some may have been sent, which does no harm."""


class Backlog(Protocol):
    """How far the workers are behind."""

    def oldest_waiting_ms(self) -> int | None:
        """How long the task queue's oldest message has waited; `None` when nobody knows."""


@dataclass(frozen=True, slots=True)
class Received:
    body: str
    receipt: str
    message_id: str


class TaskInbox(Protocol):
    """The worker's side of the queue."""

    def receive(
        self, *, at_most: int, wait_seconds: int, visibility_seconds: int
    ) -> Sequence[Received]: ...

    def extend(self, message: Received, *, seconds: int) -> None: ...

    def delete(self, message: Received) -> None: ...


class EventBus(Protocol):
    def put(self, events: Sequence[Event]) -> None:
        """Only refused entries are sent again. Raise `EventsNotAccepted`, never lose silently."""


class EventLog(Protocol):
    def append(self, record: Mapping[str, Any]) -> None:
        """Write if absent: a second delivery changes nothing."""


class EventReader(Protocol):
    """Looks back; no decision reads the log. `domain/event_queries.py` has the questions."""

    def read(self, query: EventQuery, *, full: bool = False) -> Sequence[KeptEvent]:
        """All answers, however many pages they fill, by time and id; none of another tenant.

        Histories and the whole log hold whole events. The other indexes hold summaries, without
        properties: `full` fetches the events behind them. Fields that were moved to the bucket or
        kept as text are back in their places.
        """


class BlobStore(Protocol):
    def put(self, key: str, body: bytes, *, content_type: str) -> None: ...

    def get(self, key: str) -> bytes:
        """Raise `MissingBlob`."""


class ScaleInProtection(Protocol):
    """Asks the platform to spare this worker when it takes some away."""

    def protect(self, *, minutes: int) -> None:
        """From now on, however often it was asked before. Raise `Unavailable`."""

    def drop(self) -> None:
        """Raise `Unavailable`."""
