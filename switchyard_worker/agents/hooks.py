"""Follows a session through the SDK's hooks. It watches and never steers."""

from claude_agent_sdk import HookContext, HookInput, HookMatcher
from claude_agent_sdk.types import HookEvent, HookJSONOutput

from switchyard_worker.agents.clock import elapsed_ms, monotonic
from switchyard_worker.agents.todos import Todos, changed, ended, todo_changes
from switchyard_worker.agents.trace import ToolJournal, Trace
from switchyard_worker.boundary import mark_call


class SessionHooks:
    def __init__(self, *, step: str) -> None:
        self._step = step
        self._began = monotonic()
        self._journal = ToolJournal()
        self._todos: Todos = {}

    def matchers(self) -> dict[HookEvent, list[HookMatcher]]:
        watched: tuple[HookEvent, ...] = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
        return {name: [HookMatcher(hooks=[self._record])] for name in watched}

    def trace(self) -> Trace:
        return Trace(
            tool_calls=self._journal.calls(),
            tool_calls_left_out=self._journal.left_out,
            todos=ended(self._todos, elapsed_ms(self._began)),
        )

    async def _record(
        self, event: HookInput, _call_id: str | None, _context: HookContext
    ) -> HookJSONOutput:
        now_ms = elapsed_ms(self._began)
        if event["hook_event_name"] == "PreToolUse":
            mark_call(event["tool_name"], event["tool_input"], step=self._step)
            self._journal.began(
                event["tool_use_id"], event["tool_name"], event["tool_input"], now_ms=now_ms
            )
        elif event["hook_event_name"] == "PostToolUse":
            self._journal.returned(
                event["tool_use_id"],
                event["tool_response"],
                now_ms=now_ms,
                duration_ms=event.get("duration_ms"),
            )
            for change in todo_changes(
                event["tool_name"], event["tool_input"], event["tool_response"]
            ):
                self._todos = changed(self._todos, change, now_ms)
        elif event["hook_event_name"] == "PostToolUseFailure":
            self._journal.returned(
                event["tool_use_id"],
                event["error"],
                now_ms=now_ms,
                duration_ms=event.get("duration_ms"),
                failed=True,
            )
        return {}
