"""Requests that change jobs which run or have run, and the answers to them."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from switchyard.contracts.definitions import (
    Dollars,
    Milliseconds,
    ModelName,
    TokenBudget,
    Turns,
)
from switchyard.contracts.task_requests import AnyTaskId
from switchyard.contracts.wire import CleanLine, CleanText, Closed, JsonValue, Written, at_most
from switchyard.domain.jobs.limits import MAX_TASKS


class CancelAccepted(Written):
    job_id: str
    status: str
    cancel_requested: bool = True


class TaskCancelAccepted(CancelAccepted):
    task_id: str
    request_id: str


TaskNames = Annotated[tuple[AnyTaskId, ...], at_most(MAX_TASKS)]


class RedriveJob(Closed):
    """A redrive. Without tasks and `from`, all that failed, timed out or were cancelled run."""

    tasks: TaskNames = Field(default=(), max_length=MAX_TASKS)
    from_: TaskNames = Field(default=(), max_length=MAX_TASKS, alias="from")
    """Run again with everything that comes after them, whatever became of it."""
    input: JsonValue = None
    """The input instead of the task's own; needs exactly one task."""
    latest: bool = False
    """Whether the tasks that are named, or selected, run the latest version of their definition."""
    dry_run: bool = False
    """Answer with what would run, and change nothing."""
    run: int | None = Field(default=None, ge=1)
    """The run that the job must be in, as a dry run has answered it."""
    model: ModelName | None = None
    max_turns: Turns | None = None
    timeout: Milliseconds | None = None
    max_cost_usd: Dollars | None = None
    max_tokens: TokenBudget | None = None

    @property
    def gives_input(self) -> bool:
        return "input" in self.model_fields_set


class PlannedTask(Written):
    task_id: str
    status: str
    """The status that the task has now, before the redrive."""
    at_once: bool
    """Whether it begins at once, whatever its rule and its condition say."""
    cost_usd: float = 0.0
    """The cost of the task's last run, with the items that it makes anew."""
    items: int | None = None
    """The number of items that it makes anew; `None` if it makes none."""


class OlderVersion(Written):
    """A task that runs an older version of its definition than the one that is registered."""

    task_id: str
    definition: str
    version: int
    latest: int


MAX_PLANNED: Final = 1_000
"""The most tasks that a dry run names."""
MAX_NAMED: Final = 100
"""The most tasks that are named for any other reason."""


class RedriveAccepted(Written):
    job_id: str
    status: str = "redriving"
    """The status, which is `planned` after a dry run."""
    run: int
    """The job's next one."""
    ready_tasks: tuple[str, ...]
    """The tasks that begin at once."""
    reopened_tasks: int
    """The number of tasks that are reopened, with those that follow them."""
    cost_usd: float = 0.0
    """The cost of all these tasks in their last run."""
    planned_tasks: tuple[PlannedTask, ...] = ()
    """The tasks that a dry run says would run, parents first; the first thousand of them."""
    stale_tasks: tuple[str, ...] = ()
    """Completed tasks that used what is made anew and stay as they are, or the first hundred."""
    older_versions: tuple[OlderVersion, ...] = ()
    """The first hundred of them."""


MAX_COMMENT: Final = 2_000
MAX_VALUE_BYTES: Final = 60_000
"""The largest edited value, or value of a signal: it is stored beside its task."""

Basis = Annotated[str, Field(min_length=16, max_length=16, pattern=r"^[0-9a-f]{16}$")]
RequestId = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]


class DecideTask(Closed):
    approved: bool
    basis: Basis
    """Stands for what was decided on, as `GET …/decision` says; something else is refused."""
    comment: CleanText | None = Field(default=None, max_length=MAX_COMMENT)
    value: JsonValue = None
    """The value that is passed on instead of the shown one; it is checked by `valueSchema`."""
    decided_by: CleanLine | None = Field(default=None, max_length=200)
    """The person, as the caller knows them; beside it the key is always recorded."""
    request_id: RequestId | None = None
    """The id of this request: repeated with the same id, it is answered as before."""

    @property
    def gives_value(self) -> bool:
        return "value" in self.model_fields_set


class SignalTask(Closed):
    value: JsonValue = None
    """The value that becomes the task's output."""
    run: int | None = Field(default=None, ge=1)
    """The run that the task must be in."""
    request_id: RequestId | None = None
    """The id of this request: repeated with the same id, it is answered as before."""


class ShownParent(Written):
    task_id: str
    status: str
    output: Any = None
    """A beginning of it, if it is large; `shortened` says so."""
    shortened: bool = False
    files: tuple[str, ...] = ()
    """The names of the files that the parent left behind."""


class HeldApproval(Written):
    """An approval that waits for a person."""

    job_id: str
    task_id: str
    request_id: str
    name: str
    """The job's."""
    question: str | None = None
    """The beginning of what the person is asked."""
    held_since: datetime | None = None
    held_until: datetime | None = None
    """The time at which the approval ends by itself."""


class ApprovalPage(Written):
    approvals: tuple[HeldApproval, ...]
    cursor: str | None = None
    """The place to go on from. A page may have few approvals or none and still have a cursor."""


class DecisionView(Written):
    """A held task as people see it: what it waits for, and what is decided on."""

    job_id: str
    task_id: str
    kind: str
    status: str
    run: int
    question: str | None = None
    held_until: datetime | None = None
    on_timeout: str | None = None
    on_reject: str | None = None
    value_schema: dict[str, Any] | None = None
    basis: str
    parents: tuple[ShownParent, ...] = ()
    job_cost_usd: float = 0.0
    """The cost of the job so far."""


class TaskDecided(Written):
    job_id: str
    task_id: str
    request_id: str
    status: str
    output: Any = None
    repeated: bool = False
    """Whether the same request had ended the task before."""
