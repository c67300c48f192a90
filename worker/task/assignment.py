"""What the child is told: the one file that passes from the worker to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final

from switchyard.domain.prompts.artifacts import RESULT_FILE
from worker.task.limits import MAX_FILE_MB

TASK_FILE: Final = "task.json"
TASK_STEP: Final = "task-step"
"""The one step of a definition that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    description: str
    output_file: str
    max_turns: int
    timeout_ms: int
    tools: Sequence[str] = ()
    output_schema: Mapping[str, Any] | None = None
    process_output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A task; or one step of it, as an agent is told (`for_step`)."""

    request_id: str
    attempt: int
    backend: str
    model: str
    tag: str
    description: str
    max_turns: int
    timeout_ms: int
    tools: Sequence[str] = ()
    output_schema: Mapping[str, Any] | None = None
    input: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    """The outputs of the tasks it depends on, by task id."""
    step_name: str = TASK_STEP
    steps: Sequence[Step] = ()
    max_cost_usd: float | None = None
    """What the agent may still spend."""
    process_output: str | None = None
    memory_mb: int | None = None
    file_mb: int = MAX_FILE_MB
    max_processes: int | None = None
    """Where the child runs as a user of its own."""
    traceparent: str | None = None
    """Of the attempt's span."""
    offline_delay_ms: int = 0

    @classmethod
    def read(cls, folder: Path) -> "Assignment":
        told = json.loads((folder / TASK_FILE).read_text(encoding="utf-8"))
        return cls(**told | {"steps": [Step(**step) for step in told["steps"]]})

    def in_order(self) -> Sequence[Step]:
        return self.steps or [
            Step(
                name=self.step_name,
                description=self.description,
                output_file=RESULT_FILE.rpartition("/")[2],
                max_turns=self.max_turns,
                timeout_ms=self.timeout_ms,
                tools=self.tools,
                output_schema=self.output_schema,
                process_output=self.process_output,
            )
        ]

    def for_step(self, step: Step, *, timeout_ms: int, max_cost_usd: float | None) -> "Assignment":
        return replace(
            self,
            step_name=step.name,
            description=step.description,
            max_turns=step.max_turns,
            timeout_ms=timeout_ms,
            tools=step.tools,
            output_schema=step.output_schema,
            max_cost_usd=max_cost_usd,
            steps=(),
        )

    def write(self, file: IO[str]) -> None:
        """In pieces: to write JSON holds Python's lock, and all together may be megabytes."""
        file.write('{"context": {')
        for number, (name, output) in enumerate(self.context.items()):
            file.write(f"{',' if number else ''}{json.dumps(name)}: {json.dumps(output)}")
        file.write("}")
        for name in self.__slots__:
            if name != "context":
                file.write(f", {json.dumps(name)}: {json.dumps(self._told(name))}")
        file.write("}")

    def _told(self, name: str) -> Any:
        return list(map(asdict, self.steps)) if name == "steps" else getattr(self, name)
