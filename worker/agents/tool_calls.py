"""Follows tool calls through a conversation and times them."""

from claude_agent_sdk import ContentBlock, ToolResultBlock, ToolUseBlock

from worker.agents.agent import ToolCall
from worker.task.clock import elapsed_ms, monotonic


class ToolCalls:
    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._began: dict[str, float] = {}
        self._took_ms: dict[str, int] = {}

    def hear(self, content: str | list[ContentBlock]) -> None:
        for block in content:
            if isinstance(block, ToolUseBlock):
                self._names[block.id] = block.name
                self._began[block.id] = monotonic()
            elif isinstance(block, ToolResultBlock) and block.tool_use_id in self._began:
                self._took_ms[block.tool_use_id] = elapsed_ms(self._began[block.tool_use_id])

    def finished(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(name=name, duration_ms=self._took_ms.get(call))
            for call, name in self._names.items()
        )
