"""A task definition: what is to be done, by an agent, by code or by a job of its own."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticKnownError

from switchyard.contracts.commitments import Commitments
from switchyard.contracts.commitments.code_fields import CodeHash, Command, FunctionName
from switchyard.contracts.definitions.steps import (
    MAX_STEPS,
    ProcessName,
    StepDefinition,
    ToolNames,
    problem_with_steps,
)
from switchyard.contracts.health import HealthSection
from switchyard.contracts.json_schema import JsonSchema, simple_schema_problem
from switchyard.contracts.scheduling import (
    ConcurrencyLimit,
    Priority,
    QueueName,
    StartsPerMinute,
    StoredPinned,
)
from switchyard.contracts.task_requests import TaskRequests
from switchyard.contracts.wire import (
    CLEANED,
    CleanLine,
    Closed,
    DefinitionName,
    JsonValue,
    Written,
    at_most,
    timeout_up_to,
    unless_absent,
)
from switchyard.domain.access.limits import Asked, Ceilings
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.limits import MAX_TIMEOUT_MS
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.submission_keys import body_hash
from switchyard.domain.nested_jobs.job_templates import JobTemplate
from switchyard.domain.scheduling.work_queues import DefinitionTerms
from switchyard.domain.tasks.task import MAX_ATTEMPTS

ModelName = Annotated[CleanLine, Field(min_length=1, max_length=100)]
Turns = Annotated[int, Field(ge=1, le=200)]
Milliseconds = Annotated[int, Field(ge=1_000, le=MAX_TIMEOUT_MS), timeout_up_to(MAX_TIMEOUT_MS)]
Dollars = Annotated[float, Field(ge=0.000_001, le=10_000, allow_inf_nan=False)]
"""An amount in dollars, from the smallest that the table has numbers for."""
TokenBudget = Annotated[int, Field(ge=1_000, le=1_000_000_000)]

_OF_AGENTS: Final = (
    *("tag", "max_turns", "tools", "process_output", "steps"),
    *("max_cost_usd", "max_tokens", "model", "backend"),
)
_NEEDED_BY_AGENTS: Final = ("description", "tag")
_OF_CODE: Final = ("function", "code_hash", "command")
_OF_JOBS: Final = ("tasks", "output", "pinned")
_OF_WORKERS: Final = (
    *("timeout", "output_schema", "retry", "health", "commitments"),
    *("concurrency", "starts_per_minute"),
)
"""Fields that definitions of kind `job` do not have: no worker runs a job."""
_AGENTS_HAVE_A_ROLE: Final[dict[str, Any]] = {
    "if": {"properties": {"kind": {"const": "code"}}, "required": ["kind"]},
    "then": {"anyOf": [{"required": ["function", "codeHash"]}, {"required": ["command"]}]},
    "else": {
        "if": {"properties": {"kind": {"const": "job"}}, "required": ["kind"]},
        "then": {"required": ["tasks"]},
        "else": {"required": [*_NEEDED_BY_AGENTS]},
    },
}
"""Rules between fields, for the description of the API and for editors."""


class RetryPolicy(Closed):
    max_attempts: int = Field(default=MAX_ATTEMPTS, ge=1, le=MAX_ATTEMPTS)
    """The most attempts at a task whose failure may pass."""


class TaskDefinition(Closed):
    model_config = ConfigDict(json_schema_extra=_AGENTS_HAVE_A_ROLE)

    # Version 0.1.0 reads no definition with a field that it does not know: agents' have none.
    kind: Literal["agent", "code", "job"] = Field(
        default="agent", exclude_if=lambda kind: bool(kind == "agent")
    )
    """The kind of work: `agent`, the default, which is not written; `code`, a function or a
    program; or `job`, tasks of its own."""
    description: Annotated[str, Field(min_length=1, max_length=20_000), CLEANED] | None = Field(
        default=None, validate_default=True
    )
    """The prompt, which an agent needs."""
    tag: Annotated[str, Field(min_length=1, max_length=200), CLEANED] | None = Field(
        default=None, validate_default=True
    )
    """The role that does it, needed for an agent."""
    max_turns: Turns = 10
    tools: ToolNames = ()
    timeout: Milliseconds | None = None
    """The stage's default when absent."""
    input_schema: JsonSchema | None = None
    output_schema: JsonSchema | None = None
    process_output: ProcessName | None = None
    """The name of a function in the worker's image that processes the output."""
    steps: Annotated[tuple[StepDefinition, ...], at_most(MAX_STEPS)] = Field(
        default=(), max_length=MAX_STEPS
    )
    """The steps in order; the last output is the task's. If empty, the description is the step."""
    max_cost_usd: Dollars | None = None
    """The most that one attempt may spend, in dollars."""
    max_tokens: TokenBudget | None = unless_absent()
    """How many tokens one attempt may use: read, written, and read from or written to the cache."""
    retry: RetryPolicy = RetryPolicy()
    health: HealthSection | None = None
    """The limits of a healthy task; absent ones are the stage's."""
    commitments: Commitments | None = unless_absent(min_length=1)
    """What has to hold before one of its tasks counts as completed."""
    model: ModelName | None = None
    backend: Literal["claude-agent-sdk", "messages", "offline"] | None = None
    function: FunctionName | None = None
    """The function that a code task calls, as in `my_functions.text:split`."""
    code_hash: CodeHash | None = None
    """The content of the function's package: a worker with another content does not run it."""
    command: Command | None = None
    """The program that a code task runs instead of a function, with its arguments."""
    tasks: TaskRequests | None = unless_absent()
    """The tasks of a job's template."""
    output: JsonValue = unless_absent()
    """The output of a job, with references to its tasks; else its last tasks' outputs, by id."""
    pinned: dict[DefinitionName, StoredPinned] | None = unless_absent()
    """The versions of the definitions that a template's tasks name, as of its registration."""
    queue: QueueName | None = unless_absent()
    """The work queue of its tasks, unless they or their job name one."""
    priority: Priority | None = unless_absent()
    """The class of its tasks: `high`, `normal` or `low`, unless they or their job name one."""
    concurrency: ConcurrencyLimit | None = unless_absent()
    """How many of its tasks may run at once, in all or for each value of a key."""
    starts_per_minute: StartsPerMinute | None = unless_absent()
    """How many of its tasks may start per minute."""

    @field_validator(*_NEEDED_BY_AGENTS)
    @classmethod
    def _agents_need_it(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("kind") == "agent":
            raise PydanticKnownError("missing")
        return value

    @field_validator(*_OF_AGENTS)
    @classmethod
    def _code_has_none(cls, value: Any, info: ValidationInfo) -> Any:
        default = cls.model_fields[info.field_name or ""].default
        kind = info.data.get("kind", "agent")
        if kind != "agent" and value != default:
            raise ValueError(f"belongs to agents; a definition of kind `{kind}` does not have it")
        return value

    @field_validator(*_OF_WORKERS)
    @classmethod
    def _jobs_have_none(cls, value: Any, info: ValidationInfo) -> Any:
        default = cls.model_fields[info.field_name or ""].default
        if info.data.get("kind") == "job" and value != default:
            raise ValueError("belongs to what a worker runs; the tasks of a job have their own")
        return value

    @field_validator(*_OF_JOBS)
    @classmethod
    def _only_jobs_have_it(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("kind") != "job":
            raise ValueError("belongs to jobs; a definition that has it is of kind `job`")
        return value

    @field_validator("input_schema")
    @classmethod
    def _is_simple_of_a_job(
        cls, schema: dict[str, Any] | None, info: ValidationInfo
    ) -> dict[str, Any] | None:
        problem = simple_schema_problem(schema) if schema is not None else None
        if problem and info.data.get("kind") == "job":
            raise ValueError(problem)
        return schema

    @field_validator(*_OF_CODE)
    @classmethod
    def _agents_have_none(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("kind") != "code":
            raise ValueError("belongs to code; a definition that has it is of kind `code`")
        return value

    @model_validator(mode="after")
    def _code_is_one_of_both(self) -> "TaskDefinition":
        if self.kind != "code":
            return self
        if (self.function is None) is (self.command is None):
            raise ValueError("a definition of kind `code` has either function or command")
        if (self.function is None) is not (self.code_hash is None):
            raise ValueError("codeHash and function belong together")
        if self.command and not self.command[0].strip():
            raise ValueError("command begins with the name of a program")
        return self

    @model_validator(mode="after")
    def _jobs_have_tasks(self) -> "TaskDefinition":
        if self.kind == "job" and not self.tasks:
            raise ValueError("a definition of kind `job` has tasks")
        return self

    @model_validator(mode="after")
    def _steps_fit_together(self) -> "TaskDefinition":
        if not self.steps:
            return self
        if self.output_schema is not None or self.process_output is not None:
            raise ValueError("with steps, outputSchema and processOutput belong to a step")
        problem = problem_with_steps(self.steps)
        if problem:
            raise ValueError(problem)
        return self

    @property
    def terms(self) -> DefinitionTerms | None:
        """What it says of queue, class and limits; `None` for nothing."""
        terms = DefinitionTerms(
            queue=self.queue,
            priority=self.priority,
            concurrency=self.concurrency.value() if self.concurrency else None,
            starts_per_minute=self.starts_per_minute,
        )
        return None if terms == DefinitionTerms() else terms

    @property
    def template(self) -> JobTemplate | None:
        """Return the tasks and the output of a job; `None` for a definition that a worker runs."""
        if self.kind != "job":
            return None
        specs = tuple(task.spec() for task in self.tasks or ())
        return JobTemplate(tasks=specs, output=self.output, pinned=self.pinned or {})

    def problems_with(self, ceilings: Ceilings) -> list[Problem]:
        """Find what this definition asks for above the ceilings of a stage."""
        asked = Asked(
            model=self.model,
            tools=self.tools,
            max_turns=self.max_turns if self.kind == "agent" else None,
            timeout_ms=self.timeout,
            max_cost_usd=self.max_cost_usd,
            max_tokens=self.max_tokens,
        )
        return [
            *ceilings.problems_with(asked),
            *(
                problem
                for index, step in enumerate(self.steps)
                for problem in ceilings.problems_with(step.asked, at=("steps", index))
            ),
            *(
                problem
                for index, one in enumerate(self.commitments or ())
                for problem in one.problems_with(ceilings, at=("commitments", index))
            ),
        ]

    @property
    def checked_output(self) -> JsonSchema | None:
        """The schema of what others are given of the task, if nothing is made of it before."""
        return self.output_schema if self.process_output is None else None


class RegisteredDefinition(TaskDefinition, Written):
    """A definition with its name and version; a version never changes."""

    name: DefinitionName
    version: int = Field(ge=1)

    @property
    def content(self) -> TaskDefinition:
        return TaskDefinition.model_validate(self.model_dump(exclude={"name", "version"}))

    @property
    def pin(self) -> Pinned:
        """What tasks keep of this version."""
        return Pinned(self.version, self.retry.max_attempts, self.terms)

    def says(self, definition: TaskDefinition) -> bool:
        """Whether just that. Compared as JSON: to Python, `{"const": true}` were `{"const": 1}`."""
        mine = self.model_dump(mode="json", exclude={"name", "version"})
        return body_hash(mine) == body_hash(definition.model_dump(mode="json"))


class DefinitionList(Written):
    definitions: tuple[RegisteredDefinition, ...]
    cursor: str | None = None
    """The place to go on from, if there are more definitions than an answer holds."""


class DefinitionDeleted(Written):
    name: str
    last_version: int
