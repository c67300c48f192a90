"""What a definition runs: the ordered steps of an agent, or a function or a program of code.

Each step asks the agent once and keeps its answer.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from switchyard.contracts.json_schema import JsonSchema
from switchyard.contracts.wire import (
    CleanLine,
    CleanText,
    Closed,
    at_most,
    timeout_up_to,
)
from switchyard.domain.access.limits import Asked
from switchyard.domain.ids import STEP_NAME, STEP_NAME_RULE
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.prompts.placeholders import steps_named_in

MAX_STEPS: Final = 20
MAX_TOOLS: Final = 1_000
FIFTEEN_MINUTES_MS: Final = 15 * 60 * 1000

_OUTPUT_FILE: Final = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,94}\.json")
_RESULT_NAME: Final = RESULT_FILE.rpartition("/")[2]


def _step_name(name: str) -> str:
    if not STEP_NAME.fullmatch(name):
        raise ValueError(f"must be {STEP_NAME_RULE}")
    return name


def _output_file(name: str) -> str:
    if not _OUTPUT_FILE.fullmatch(name):
        raise ValueError("must be at most 100 of a-z A-Z 0-9 - _ . and end in .json")
    return name


ToolName = Annotated[CleanLine, Field(min_length=1, max_length=200)]
ProcessName = Annotated[str, AfterValidator(_step_name)]
"""The name of an output's treatment in `switchyard_worker/child/processors/__init__.py`."""
ToolNames = Annotated[tuple[ToolName, ...], Field(max_length=MAX_TOOLS), at_most(MAX_TOOLS)]

StepMilliseconds = Annotated[
    int, Field(ge=1_000, le=FIFTEEN_MINUTES_MS), timeout_up_to(FIFTEEN_MINUTES_MS)
]


class StepDefinition(Closed):
    """A step of a definition; fields that it does not have are those of the definition."""

    name: Annotated[str, AfterValidator(_step_name)]
    description: CleanText = Field(min_length=1, max_length=20_000)
    output_schema: JsonSchema | None = None
    output_file: Annotated[str, AfterValidator(_output_file)] | None = None
    """The file below `artifacts/`; when absent `{name}.json`, or for the last step the result."""
    max_turns: int | None = Field(default=None, ge=1, le=200)
    tools: ToolNames | None = None
    timeout: StepMilliseconds | None = None
    """Milliseconds; the stage's `DEFAULT_TIMEOUT` when absent."""
    process_output: ProcessName | None = None

    @property
    def asked(self) -> Asked:
        """What the step asks for, which a stage may have a ceiling for."""
        return Asked(tools=self.tools or (), max_turns=self.max_turns, timeout_ms=self.timeout)


def output_file(step: StepDefinition, *, last: bool) -> str:
    return step.output_file or (_RESULT_NAME if last else f"{step.name}.json")


def problem_with_steps(steps: Sequence[StepDefinition]) -> str | None:
    names = [step.name for step in steps]
    files = [output_file(step, last=step is steps[-1]) for step in steps]
    if len(set(names)) < len(names):
        return "two steps have the same name"
    if len(set(files)) < len(files) or _RESULT_NAME in files[:-1]:
        return f"two steps write the same file, or one before the last writes {_RESULT_NAME}"
    return _problem_with_references(steps)


def _problem_with_references(steps: Sequence[StepDefinition]) -> str | None:
    for number, step in enumerate(steps):
        earlier = {step.name for step in steps[:number]}
        for named in steps_named_in(step.description):
            if named not in earlier:
                return f"step {step.name!r} asks for the output of {named!r}, no step before it"
    return None
