"""What people and programs ask of jobs that run or have run, and what they are answered."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from switchyard.contracts.definitions import Dollars, Milliseconds, ModelName, Turns
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


class RedriveJob(Closed):
    """Without tasks, all that failed, timed out or were cancelled are redriven."""

    tasks: Annotated[tuple[AnyTaskId, ...], at_most(MAX_TASKS)] = Field(
        default=(), max_length=MAX_TASKS
    )
    input: JsonValue = None
    """Instead of the one that its task had; needs exactly one task."""
    model: ModelName | None = None
    max_turns: Turns | None = None
    timeout: Milliseconds | None = None
    max_cost_usd: Dollars | None = None

    @property
    def gives_input(self) -> bool:
        return "input" in self.model_fields_set


class RedriveAccepted(Written):
    job_id: str
    status: str = "redriving"
    run: int
    """The job's next one."""
    ready_tasks: tuple[str, ...]
    """Those that begin at once."""
    reopened_tasks: int
    """Together with those that follow them."""


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
    """Given on instead of what was shown; its `valueSchema` is checked."""
    decided_by: CleanLine | None = Field(default=None, max_length=200)
    """The person, as the caller knows them; beside it the key is always recorded."""
    request_id: RequestId | None = None
    """Repeated with the same id, the request is answered as before."""

    @property
    def gives_value(self) -> bool:
        return "value" in self.model_fields_set


class SignalTask(Closed):
    value: JsonValue = None
    """Becomes the task's output."""
    run: int | None = Field(default=None, ge=1)
    """Only if the task is in this run."""
    request_id: RequestId | None = None
    """Repeated with the same id, the request is answered as before."""


class ShownParent(Written):
    task_id: str
    status: str
    output: Any = None
    """A beginning of it, if it is large; `shortened` says so."""
    shortened: bool = False
    files: tuple[str, ...] = ()
    """What it left behind, by name."""


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
    """When it ends by itself."""


class ApprovalPage(Written):
    approvals: tuple[HeldApproval, ...]
    cursor: str | None = None
    """Where to go on. A page may have few or none and a cursor: others were looked at."""


class DecisionView(Written):
    """What a held task waits for, and what is decided on."""

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
    """What the job has cost so far."""


class TaskDecided(Written):
    job_id: str
    task_id: str
    request_id: str
    status: str
    output: Any = None
    repeated: bool = False
    """Whether the same request had ended the task before."""
