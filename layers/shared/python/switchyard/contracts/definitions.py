"""A task definition: what is to be done, by which role, within which limits."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from switchyard.contracts.health import HealthSection
from switchyard.contracts.json_schema import JsonSchema
from switchyard.contracts.steps import (
    MAX_STEPS,
    ProcessName,
    StepDefinition,
    ToolNames,
    problem_with_steps,
)
from switchyard.contracts.wire import (
    CleanLine,
    CleanText,
    Closed,
    DefinitionName,
    Written,
    at_most,
    timeout_up_to,
)
from switchyard.domain.access.limits import Asked, Ceilings
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.limits import MAX_TIMEOUT_MS
from switchyard.domain.jobs.submission_keys import body_hash
from switchyard.domain.tasks.task import MAX_ATTEMPTS

ModelName = Annotated[CleanLine, Field(min_length=1, max_length=100)]
Turns = Annotated[int, Field(ge=1, le=200)]
Milliseconds = Annotated[int, Field(ge=1_000, le=MAX_TIMEOUT_MS), timeout_up_to(MAX_TIMEOUT_MS)]
Dollars = Annotated[float, Field(ge=0.000_001, le=10_000, allow_inf_nan=False)]
"""From a size on that the table has numbers for."""


class RetryPolicy(Closed):
    max_attempts: int = Field(default=MAX_ATTEMPTS, ge=1, le=MAX_ATTEMPTS)
    """How often a task is tried if what went wrong may pass."""


class TaskDefinition(Closed):
    description: CleanText = Field(min_length=1, max_length=20_000)
    tag: CleanText = Field(min_length=1, max_length=200)
    """The role that does it."""
    max_turns: Turns = 10
    tools: ToolNames = ()
    timeout: Milliseconds | None = None
    """The stage's default when absent."""
    input_schema: JsonSchema | None = None
    output_schema: JsonSchema | None = None
    process_output: ProcessName | None = None
    """What is done to the output, by a name that the worker's image knows."""
    steps: Annotated[tuple[StepDefinition, ...], at_most(MAX_STEPS)] = Field(
        default=(), max_length=MAX_STEPS
    )
    """In order; the last one's output is the task's. Without any, the description is the step."""
    max_cost_usd: Dollars | None = None
    """What one attempt may spend."""
    retry: RetryPolicy = RetryPolicy()
    health: HealthSection | None = None
    """From when on one of its tasks is not well; else as the stage has it."""
    model: ModelName | None = None
    backend: Literal["claude-agent-sdk", "messages", "offline"] | None = None

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

    def problems_with(self, ceilings: Ceilings) -> list[Problem]:
        """Find what this definition asks for above the ceilings of a stage."""
        asked = Asked(
            model=self.model,
            tools=self.tools,
            max_turns=self.max_turns,
            timeout_ms=self.timeout,
            max_cost_usd=self.max_cost_usd,
        )
        return [
            *ceilings.problems_with(asked),
            *(
                problem
                for index, step in enumerate(self.steps)
                for problem in ceilings.problems_with(_asked_by(step), at=("steps", index))
            ),
        ]


def _asked_by(step: StepDefinition) -> Asked:
    return Asked(tools=step.tools or (), max_turns=step.max_turns, timeout_ms=step.timeout)


class RegisteredDefinition(TaskDefinition, Written):
    """A definition with its name and version; a version never changes."""

    name: DefinitionName
    version: int = Field(ge=1)

    @property
    def content(self) -> TaskDefinition:
        return TaskDefinition.model_validate(self.model_dump(exclude={"name", "version"}))

    def says(self, definition: TaskDefinition) -> bool:
        """Whether just that. Compared as JSON: to Python, `{"const": true}` were `{"const": 1}`."""
        mine = self.model_dump(mode="json", exclude={"name", "version"})
        return body_hash(mine) == body_hash(definition.model_dump(mode="json"))


class DefinitionList(Written):
    definitions: tuple[RegisteredDefinition, ...]
    cursor: str | None = None
    """From where to go on, if there are more than an answer holds."""


class DefinitionDeleted(Written):
    name: str
    last_version: int
