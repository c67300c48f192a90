"""What producers ask of jobs that run or have run, and what they are answered."""

from typing import Annotated

from pydantic import Field

from switchyard.contracts.definitions import Dollars, Milliseconds, ModelName, Turns
from switchyard.contracts.task_requests import TaskId
from switchyard.contracts.wire import Closed, JsonValue, Written, at_most
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

    tasks: Annotated[tuple[TaskId, ...], at_most(MAX_TASKS)] = Field(
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
