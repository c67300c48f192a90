"""What the child is told: the one file that passes from the worker to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

TASK_FILE: Final = "task.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
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
    offline_delay_ms: int = 0

    @classmethod
    def read(cls, folder: Path) -> "Assignment":
        return cls(**json.loads((folder / TASK_FILE).read_text(encoding="utf-8")))

    def write(self, folder: Path) -> Path:
        path = folder / TASK_FILE
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path
