"""Records what an agent did for an answer: the content of `session_trace.json`."""

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from switchyard.domain.error_text import error_text

if TYPE_CHECKING:  # an agent without todos need not pay for them
    from switchyard_worker.agents.todos import TodoTiming


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    name: str
    duration_ms: int | None = None
    """The duration; `None` for a call that never returned."""
    input: str | None = None
    output: str | None = None
    """The output; like the input a bounded text without secrets, `None` where there was none."""
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
    """The share of Claude's input that came from its cache."""

    input_tokens: int = 0
    """Tokens neither read from the cache nor written to it."""
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
    """A remark on what the figures do not say by themselves."""

    def as_json(self) -> dict[str, Any]:
        return {
            "toolCalls": [call.as_json() for call in self.tool_calls],
            "toolCallsLeftOut": self.tool_calls_left_out,
            "cache": self.cache.as_json(),
            "todos": [todo.as_json() for todo in self.todos],
            "note": self.note,
        }


MAX_CHARACTERS: Final = 2_000
_CONSIDERED: Final = 4 * MAX_CHARACTERS  # what is redacted gets shorter


def excerpt(value: Any) -> str:
    """Return a bounded text without secrets and control characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    safe = error_text(_whole_words(text), max_characters=MAX_CHARACTERS)
    if len(text) <= MAX_CHARACTERS:
        return safe
    return f"{safe} … ({len(text):,} characters)"


def _whole_words(text: str) -> str:
    """Cut a text between words: half of a secret would not be recognized as one."""
    considered = text[:_CONSIDERED]
    if len(text) <= _CONSIDERED:
        return considered
    return considered.rpartition(" ")[0] or considered


MAX_CALLS: Final = 500


class ToolJournal:
    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._began_ms: dict[str, int] = {}
        self.left_out = 0

    def began(self, call_id: str, name: str, given: Any, *, now_ms: int) -> None:
        if len(self._calls) >= MAX_CALLS:
            self.left_out += 1
            return
        self._began_ms[call_id] = now_ms
        self._calls[call_id] = ToolCall(name=name, input=excerpt(given))

    def returned(
        self,
        call_id: str,
        output: Any,
        *,
        now_ms: int,
        duration_ms: int | None = None,
        failed: bool = False,
    ) -> None:
        """Record a result; `duration_ms` is what the tool itself measured, if it did."""
        if call_id not in self._calls:
            return
        lasted = now_ms - self._began_ms[call_id] if duration_ms is None else duration_ms
        self._calls[call_id] = replace(
            self._calls[call_id], duration_ms=lasted, output=excerpt(output), failed=failed
        )

    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls.values())
