"""What an agent did on its way to an answer: the content of `session_trace.json`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # an agent without todos need not pay for them
    from worker.agents.todos import TodoTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    name: str
    duration_ms: int | None = None
    """`None` for a call that never returned."""
    input: str | None = None
    output: str | None = None
    """Both as bounded text without secrets; `None` where there was none."""
    failed: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "durationMs": self.duration_ms,
            "input": self.input,
            "output": self.output,
            "failed": self.failed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """How much of what Claude read came from its cache."""

    input_tokens: int = 0
    """Those neither read from the cache nor written to it."""
    read_tokens: int = 0
    creation_tokens: int = 0

    @property
    def efficiency_percent(self) -> float:
        everything = self.input_tokens + self.read_tokens + self.creation_tokens
        return round(100 * self.read_tokens / everything, 1) if everything else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "inputTokens": self.input_tokens,
            "cacheReadTokens": self.read_tokens,
            "cacheCreationTokens": self.creation_tokens,
            "efficiencyPercent": self.efficiency_percent,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    tool_calls: tuple[ToolCall, ...] = ()
    tool_calls_left_out: int = 0
    """Calls beyond those that a trace keeps."""
    cache: CacheUse = field(default_factory=CacheUse)
    todos: "tuple[TodoTiming, ...]" = ()
    note: str | None = None
    """What the figures do not say by themselves."""

    def as_json(self) -> dict[str, Any]:
        return {
            "toolCalls": [call.as_json() for call in self.tool_calls],
            "toolCallsLeftOut": self.tool_calls_left_out,
            "cache": self.cache.as_json(),
            "todos": [todo.as_json() for todo in self.todos],
            "note": self.note,
        }
