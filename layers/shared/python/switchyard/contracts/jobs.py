"""Requests of producers, and the answers to them."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from switchyard.contracts.files import JobFileNames
from switchyard.contracts.notify import Notify
from switchyard.contracts.scheduling import Priority, QueueName
from switchyard.contracts.task_requests import TaskRequest, TaskRequests
from switchyard.contracts.wire import CleanText, Closed, Written, at_most, unless_absent
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.limits import (
    MAX_DOCUMENT_BYTES,
    MAX_NAME_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
)

KEY_HEADER = "Idempotency-Key"


Tag = Annotated[CleanText, Field(min_length=1, max_length=MAX_TAG_CHARACTERS)]


def _tag_wanted(value: str) -> str:
    if ":" not in value[1:-1]:
        raise ValueError("must read key:value")
    return value


TagWanted = Annotated[str, AfterValidator(_tag_wanted)]


class SubmitJob(Closed):
    name: CleanText = Field(default="job", min_length=1, max_length=MAX_NAME_CHARACTERS)
    tags: Annotated[dict[Tag, Tag], at_most(MAX_TAGS)] = Field(
        default_factory=dict, max_length=MAX_TAGS
    )
    notify: Notify | None = None
    """The channel or webhook that is notified of failures, beside the stage's operators."""
    files: JobFileNames = Field(default_factory=dict, exclude_if=lambda files: not files)
    """The files that tasks may ask for as `job/NAME`; their contents were uploaded before."""
    queue: QueueName | None = unless_absent()
    """The work queue of its tasks, unless they name one themselves."""
    priority: Priority | None = unless_absent()
    """The class of its tasks, likewise."""
    tasks: TaskRequests


class JobAccepted(Written):
    job_id: str
    status: str = "created"
    total_tasks: int
    root_tasks: tuple[str, ...]
    created_at: datetime
    trace_id: str | None = None
    """The id of the trace that events, messages and agents name: the caller's, if one was given."""
    repeated: bool = False
    """Whether an earlier request under the same idempotency key had started the job."""


class AddTasks(Closed):
    """More tasks for a job under way; they may depend on any that it has."""

    tasks: TaskRequests


def size_problems(
    request: SubmitJob | AddTasks, *, not_sent: Collection[str] = ()
) -> list[Problem]:
    """Return problems of size; `not_sent` are fields that the request is sent without."""
    sent = request.model_dump_json(by_alias=True, exclude=set(not_sent)).encode()
    if len(sent) <= MAX_DOCUMENT_BYTES:
        return []
    sizes = [_bytes_of_input(task) for task in request.tasks]
    largest = max(sizes)
    message = (
        f"has {largest:,} of the {len(sent):,} bytes sent; "
        f"at most {MAX_DOCUMENT_BYTES:,} are accepted"
    )
    return [Problem(("tasks", sizes.index(largest), "input"), message)]


def _bytes_of_input(task: TaskRequest) -> int:
    return len(task.model_dump_json(include={"input"}).encode())


class TasksAdded(Written):
    job_id: str
    added_tasks: tuple[str, ...]
    """The ids of all added tasks; those that an earlier request had added come first."""
    immediately_ready: tuple[str, ...]
    total_tasks_now: int
    problem: str | None = None
    """The reason why other tasks were not added: only some at a time are added together."""
    try_again: bool = False
    """Whether the same request would go on with the others."""


class TaskSummary(Written):
    task_id: str
    name: str
    """The definition's; empty for a task that no worker runs."""
    kind: str | None = unless_absent()
    """The kind of a task that no worker runs: `approval`, `wait`, `signal` or `fan_out`."""
    held_until: datetime | None = unless_absent()
    """The time at which a held task ends by itself."""
    depends_on: tuple[str, ...]
    status: str
    """The status, which is `waiting` until there is an event of the task."""
    last_event_type: str | None = unless_absent()
    """The last event, as far as the task's own item shows: the event log may have a later one."""
    last_event_at: datetime | None = unless_absent()
    run: int = 1
    attempt: int
    started_at: datetime | None = unless_absent()
    settled_at: datetime | None = unless_absent()
    cost_usd: float = 0.0
    error: str | None = unless_absent()
    """The beginning of its error, or of the error of its earlier attempt if it has none."""
    activity: str | None = unless_absent()
    """The activity of a running task: `type:step`, or `progress:` and what its code reported."""
    cancel_requested: bool | None = unless_absent()
    """True once the task's cancellation was asked for, in this run."""
    queue: str | None = unless_absent()
    """The work queue that it waits in, unless that is `default`."""
    priority: str | None = unless_absent()
    """The class of the task, unless it is `normal`."""


class FileLink(Written):
    name: str
    """The file's name below the attempt's prefix."""
    size: int
    """Bytes."""
    content_type: str
    url: str
    """Reads the file for 15 minutes, without a key."""


class JobFileLink(FileLink):
    """A file that was submitted with the job."""

    sha256: str


class JobView(Written):
    job_id: str
    name: str
    status: str
    run: int = 1
    total_tasks: int
    progress: dict[str, int]
    """The number of tasks in each status."""
    failed_task_id: str | None = None
    """The first that failed in this run."""
    cancel_requested: bool = False
    created_at: datetime
    reopened_at: datetime | None = unless_absent()
    """The time at which this run began, if it is not the first."""
    completed_at: datetime | None = None
    """The end of the run; while a redrive prepares the next run, the end of the run before."""
    tags: dict[str, str] = Field(default_factory=dict)
    notify: Notify | None = None
    """The channel or webhook that is notified of the job's failures."""
    files: tuple[JobFileLink, ...] = Field(default=(), exclude_if=lambda files: not files)
    """The files that the job was submitted with, until they expire."""
    trace_id: str | None = None
    tasks: tuple[TaskSummary, ...]
    left_out: tuple[str, ...] = ()
    """Fields that are empty in every task for lack of room; the answer for one task has them."""


class CommitmentView(Written):
    """A commitment of a task, and what the last attempt that was checked left of it."""

    name: str
    kind: str
    met: bool
    reason: str
    """The evidence in a sentence; the attempt's `logs/commitments.json` has more."""
    duration_ms: int


class TaskView(TaskSummary):
    job_id: str
    request_id: str
    definition_version: int
    max_attempts: int
    ready_at: datetime | None = unless_absent()
    """The time, in this run, from which a worker could have begun with the task, or it was held."""
    error_category: str | None = unless_absent()
    """The category of the error that ended the task: one of those that decide whether another
    attempt follows, or why a task failed that no worker runs."""
    duration_ms: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    input: Any = None
    """The input; null as well once it has expired in the bucket, like the output."""
    output: Any = None
    input_location: str | None = None
    """The key of the input in the bucket, if the answer has no room for it."""
    input_url: str | None = None
    """Reads that input for 15 minutes, without a key."""
    output_location: str | None = None
    """The key of the output in the bucket, if the answer has no room for it."""
    output_url: str | None = None
    """Reads that output for 15 minutes, without a key."""
    artifacts: str | None = None
    """The bucket's prefix with artifacts, logs and traces of the attempt that settled the task."""
    files: tuple[FileLink, ...] = ()
    """Links to the files below that prefix, until they expire."""
    event: dict[str, Any] | None = unless_absent()
    """The pattern of the event that ends a signal, as the job says it."""
    input_files: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Names of the task's files: `job/NAME`, or `TASK/NAME` for artifacts of a task before it."""
    item_status: str | None = unless_absent()
    """In the words of a work queue: `pending`, `claimed`, `completed`, `failed` while another
    attempt follows, or `deadLettered`."""
    claimed_by: str | None = unless_absent()
    """The worker that runs it."""
    claimed_at: datetime | None = unless_absent()
    visible_at: datetime | None = unless_absent()
    """From when on a worker may take it: while it runs, unless its lease is renewed before."""
    created_at: datetime | None = unless_absent()
    """When its job was submitted."""
    metadata: dict[str, str] = Field(default_factory=dict, exclude_if=lambda texts: not texts)
    """What its producer wants to see beside it."""
    required_artifacts: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Patterns of the files that the task has to leave behind."""
    verified: bool | None = unless_absent()
    """Whether it completed with all its commitments met; absent if it has none, or none yet."""
    commitments: tuple[CommitmentView, ...] = Field(default=(), exclude_if=lambda found: not found)
    """What was found of its commitments, in this run."""
    commitments_checked_in: int | None = unless_absent()
    """The attempt that these were found of."""
