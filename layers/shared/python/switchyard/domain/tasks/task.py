"""A task as its control item has it, with the signs of life of its attempt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from switchyard.domain.commitments.results import CheckedCommitments
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import Rule, TaskKind, TaskState

MAX_ACTIVITY_BYTES: Final = 100  # the control item has to stay under a kilobyte


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeSigns:
    """Signs of life of an attempt. All times are the worker's."""

    beat_at_ms: int
    """The time at which the renewal was asked for: a sign of life."""
    activity: str | None = None
    """The activity `type:step`, as the child last said; `None` before it said anything."""
    activity_at_ms: int | None = None
    """The time since which it does the same; a tool call with other arguments is something else."""
    repeats: int = 0
    """The number of equal tool calls that it made in a row."""


def short(activity: str) -> str:
    return activity.encode()[:MAX_ACTIVITY_BYTES].decode(errors="ignore")


MAX_ATTEMPTS: Final = 3

Json = Any
"""Any JSON value; its shape is checked by a definition's schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a task: everything its event will contain, except the output itself."""

    state: TaskState
    duration_ms: int = 0
    usage: Usage = field(default_factory=Usage)
    exit_code: int | None = None
    error: str | None = None
    error_category: str | None = None
    source: str = "worker"
    decided_by: str | None = None
    """The person or program that ended a held task; `None` if its time was up."""
    timeout_ms: int | None = None
    signal: str | None = None
    none_completed: bool = False
    """Whether none of the tasks that a relay stands for completed."""
    artifacts: str | None = None
    """The prefix in the bucket of logs, traces and artifacts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """The values that a redrive asked for instead of those of the definition."""

    model: str | None = None
    max_turns: int | None = None
    timeout_ms: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = None

    def over(self, earlier: "Overrides") -> "Overrides":
        """Return these overrides, with the `earlier` ones where these say nothing."""
        return Overrides(
            model=self.model or earlier.model,
            max_turns=self.max_turns or earlier.max_turns,
            timeout_ms=self.timeout_ms or earlier.timeout_ms,
            max_cost_usd=self.max_cost_usd or earlier.max_cost_usd,
            max_tokens=self.max_tokens or earlier.max_tokens,
        )


NO_OVERRIDES: Final = Overrides()


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A run of a task. A wake-up is about one run: it says nothing about a later one."""

    ref: TaskRef
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    ref: TaskRef
    state: TaskState
    definition: str
    definition_version: int
    rule: Rule = Rule.ALL_COMPLETED
    kind: TaskKind | None = None
    """The kind of a task that no worker runs; `None` for one that has a definition."""
    conditional: bool = False
    """Whether a condition among its data decides, too, whether it runs."""
    expanded: int | None = None
    """The number of items that are written, of a task that makes others."""
    child_count: int | None = None
    """The number of tasks that a fan-out, or a job, has made; `None` before they may run."""
    items_run: int | None = None
    """The run in which the tasks that it makes begin; `None` for the first, before any redrive made
    it make them anew."""
    tolerated: bool = False
    """Whether it belongs to a fan-out that is allowed some failures."""
    parent_count: int = 0
    """The number of parents, where that has to be known: of relays, and of one rule."""
    run: int = 1
    attempt: int = 0
    max_attempts: int = MAX_ATTEMPTS
    fence: int = 0
    owner: str | None = None
    lease_until_ms: int = 0
    not_before_ms: int = 0
    waiting_on: frozenset[str] = frozenset()
    not_completed: frozenset[str] = frozenset()
    cancel_requested: bool = False
    held_until_ms: int = 0
    """The time at which a held task ends by itself."""
    decision: str | None = None
    """The id of the request that ended a held task; none where time did."""
    ready_at_ms: int | None = None
    started_at_ms: int | None = None
    settled_at_ms: int | None = None
    due_at_ms: int | None = None
    resends: int = 0
    """The number of resends by the sweeper since it was last claimed, released or given up."""
    signs: LifeSigns | None = None
    """The life signs of the attempt that was last claimed; `None` before its first renewal."""
    last_error: str | None = None
    commitments: CheckedCommitments | None = None
    """What the last attempt whose commitments were checked left of them, in this run."""
    outcome: Outcome | None = None
    overrides: Overrides = NO_OVERRIDES
    trace: str | None = None
    """The `traceparent` that its job was submitted with, or it was adopted with, if any."""
    ready_in: str | None = None
    """The partition of the ready index that it is in, if any; with `ready_order` its key."""
    ready_order: str | None = None
    """Where it stands there: by its priority class, then by the time from which it may start."""
    queue: str | None = None
    """The work queue that the task waits in, `group` or `group/name`; `None` is `default`. Tasks of
    a job that is a task take it, and the class, as the word of their job."""
    priority: str | None = None
    """The class of the task; `None` is `normal`."""
    lease_ms: int | None = None
    """What a renewal of its lease adds; the worker's own when absent."""
    limits: tuple[str, ...] = ()
    """The limits that it falls under, as `domain/scheduling/limit_names.py` reads them."""

    @property
    def fans_out(self) -> bool:
        """Whether it makes tasks of its own: neither a worker nor a person ends it."""
        return self.kind in {TaskKind.FAN_OUT, TaskKind.JOB}

    @property
    def first_item_run(self) -> int:
        """The run that items of a fan-out's present list begin with; one below is of another."""
        return self.items_run or 1

    @property
    def token(self) -> str:
        """Return the name of this run of the task in the `waiting_on` of its dependents."""
        return edge_token(self.ref.task_id, self.run)

    @property
    def this_run(self) -> TaskRun:
        return TaskRun(self.ref, self.run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A task's data: what it was given, whom it follows, what it made."""

    input: Json = None
    context: Mapping[str, Json] = field(default_factory=dict)
    """The outputs of other tasks, if they came with the task; else `depends_on` names them."""
    depends_on: tuple[str, ...] = ()
    output: Json = None
    when: str | None = None
    """The condition that has to hold for the task to run."""
    hold: Mapping[str, Json] | None = None
    """The hold of the task, as `contracts/holds.py` reads it."""
    files: tuple[str, ...] = ()
    """The names of the files that the task is given, as `FileReference` reads them."""
    artifacts: tuple[str, ...] = ()
    """Patterns for the files that it has to leave behind."""
    commitments: tuple[Mapping[str, Json], ...] = ()
    """What has to hold before it counts as completed, as `contracts/commitments.py` reads it."""
    fan_out: Mapping[str, Json] | None = None
    """The lists and texts of a fan-out, as `domain/fan_out` reads them."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What its producer wants to see beside it."""
    scope: str | None = None
    """The job task whose template it is from: its texts call others by their names in there."""
    input_key: str | None = field(default=None, compare=False)
    """The key of the input in the bucket, if it was too large for its item."""
    output_key: str | None = field(default=None, compare=False)
    """The key of the output in the bucket, if it was too large for its item."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to settle one attempt. Every later write names owner and fence."""

    task: Task
    """The task's state when the lease was taken."""
    owner: str

    @property
    def ref(self) -> TaskRef:
        return self.task.ref

    @property
    def fence(self) -> int:
        return self.task.fence


def edge_token(task_id: str, run: int) -> str:
    return f"{task_id}@{run}"


def parent_of(token: str) -> str:
    return token.rpartition("@")[0]


def milliseconds(duration: timedelta) -> int:
    return int(duration / timedelta(milliseconds=1))


Tags = Mapping[str, str]
