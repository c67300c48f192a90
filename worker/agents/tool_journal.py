"""Notes an agent's tool calls as they begin and return."""

from dataclasses import replace
from typing import Any, Final

from worker.agents.excerpt import excerpt
from worker.agents.trace import ToolCall

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
        """`duration_ms` is what the tool's own clock says, if it has one."""
        if call_id not in self._calls:
            return
        lasted = now_ms - self._began_ms[call_id] if duration_ms is None else duration_ms
        self._calls[call_id] = replace(
            self._calls[call_id], duration_ms=lasted, output=excerpt(output), failed=failed
        )

    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls.values())
