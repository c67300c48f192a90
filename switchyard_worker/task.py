"""`python -m switchyard_worker.task REQUEST_ID [INPUT]`: run one task without a worker.

The input is the first there is: the second argument, the file that `INPUT_FILE` names,
`inputs/input.json`. The definition is in `inputs/definition.json`, as the API takes it; without
one the input says what is to be done. Everything lands in `.output/REQUEST_ID`.

The output is printed as JSON on standard output; what the agent prints goes to standard error.
It does what a worker does for a task: the parent's code prepares a folder, the child's runs in it.
`python -m switchyard_worker.task FOLDER`, with an absolute path, runs a task that is prepared
already.
"""

import contextlib
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, TextIO

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings

from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.ids import REQUEST_ID
from switchyard.domain.tasks.task import Json
from switchyard.functions.errors import FunctionsError
from switchyard_worker.boundary import CODE, MARKER, OUTCOME_FILE, TASK_FILE, Assignment
from switchyard_worker.child.__main__ import main
from switchyard_worker.parent.attempts.assignments import Defaults, Order, planned, planned_code
from switchyard_worker.parent.attempts.functions import NotServed, ServedFunctions

INPUT: Final = Path("inputs/input.json")
DEFINITION: Final = Path("inputs/definition.json")
GENERAL: Final = TaskDefinition(tag="assistant", description="Do what the input asks for.")


class HandSettings(BaseSettings, frozen=True):
    agent_backend: Literal["claude-agent-sdk", "messages", "offline"] = "offline"
    claude_model: str = "claude-sonnet-5-5"
    claude_timeout: int = Field(default=300_000, gt=0)
    default_timeout: int = Field(default=120_000, gt=0)
    functions: str = ""
    input_file: Path | None = None
    output_folder: Path = Path(".output")


def prepare(arguments: Sequence[str]) -> Path:
    """Prepare the folder of a task; exit with a sentence about what is wrong."""
    if not arguments:
        sys.exit("usage: python -m switchyard_worker.task REQUEST_ID [INPUT]")
    try:
        settings = HandSettings()
        request_id, *inputs = arguments
        order = Order(
            request_id=_checked(request_id), attempt=1, input=_input(inputs, settings), context={}
        )
        definition = _definition()
    except (ValueError, OSError) as problem:
        sys.exit(_sentence(problem))
    defaults = Defaults(
        model=settings.claude_model,
        timeout_ms=settings.claude_timeout,
        step_timeout_ms=settings.default_timeout,
    )
    assignment = _assignment(definition, order, defaults, settings)
    folder = _folder(settings.output_folder / request_id)
    with (folder / TASK_FILE).open("w", encoding="utf-8") as file:
        assignment.write(file)
    return folder


def _assignment(
    definition: TaskDefinition, order: Order, defaults: Defaults, settings: HandSettings
) -> Assignment:
    if definition.kind != CODE:
        backend = definition.backend or settings.agent_backend
        return planned(definition, order, defaults, backend=backend)
    try:
        code = ServedFunctions.at(settings.functions).code_for(definition)
    except (FunctionsError, NotServed) as problem:
        sys.exit(f"{problem} (FUNCTIONS names the packages)")
    return planned_code(definition, order, defaults, code=code)


def _checked(request_id: str) -> str:
    if not REQUEST_ID.fullmatch(request_id):
        raise ValueError(f"{request_id!r} is not a request id")
    return request_id


def _input(inputs: Sequence[str], settings: HandSettings) -> Json:
    if inputs:
        return json.loads(inputs[0])
    if settings.input_file:
        return json.loads(settings.input_file.read_text(encoding="utf-8"))
    return json.loads(INPUT.read_text(encoding="utf-8")) if INPUT.exists() else None


def _definition() -> TaskDefinition:
    if not DEFINITION.exists():
        return GENERAL
    return TaskDefinition.model_validate_json(DEFINITION.read_text(encoding="utf-8"))


def _folder(path: Path) -> Path:
    for name in ("artifacts", "logs", "traces"):
        (path / name).mkdir(parents=True, exist_ok=True)
    return path.absolute()


def _sentence(problem: ValueError | OSError) -> str:
    if isinstance(problem, ValidationError):
        first = problem.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(problem, json.JSONDecodeError):
        return f"the input is not JSON: {problem}"
    return str(problem)


class WithoutMarkers(io.TextIOBase):
    """Writes lines to another stream, without the markers that only a worker reads."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = ""

    def write(self, text: str) -> int:
        *lines, self._begun = f"{self._begun}{text}".split("\n")
        for line in lines:
            if not line.startswith(MARKER):
                self._stream.write(f"{line}\n")
        return len(text)


def run(folder: Path) -> int:
    """Run the task that a folder describes; print its output, or why it failed."""
    with contextlib.redirect_stdout(WithoutMarkers(sys.stderr)):
        code = main(folder)
    outcome = json.loads((folder / OUTCOME_FILE).read_text(encoding="utf-8"))
    if outcome["status"] == "completed":
        sys.stdout.write(f"{json.dumps(outcome['output'], indent=2, ensure_ascii=False)}\n")
    else:
        sys.stderr.write(f"failed ({outcome['category']}): {outcome['error']}\n")
    return code


def _is_prepared(arguments: Sequence[str]) -> bool:
    return len(arguments) == 1 and Path(arguments[0]).is_absolute()


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(run(Path(given[0]) if _is_prepared(given) else prepare(given)))
