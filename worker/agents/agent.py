"""What an agent is: given a prompt, it answers or fails, and says what that took."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from switchyard.domain.failures import FailureCategory
from worker.task.assignment import Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    name: str
    duration_ms: int | None = None
    """`None` for a call that never returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What an answer or a failure took."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    cost_usd: float = 0.0
    tool_calls: tuple[ToolCall, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    output: Any
    effort: Effort


class AgentFailed(Exception):
    def __init__(
        self, category: FailureCategory, message: str, *, effort: Effort | None = None
    ) -> None:
        super().__init__(message)
        self.category = category
        self.effort = effort or Effort()


class Agent(Protocol):
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        """Raise `AgentFailed`."""
