"""Runs Claude through the Claude Agent SDK."""

import asyncio
from contextlib import suppress
from typing import Any, Final

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.agent import AgentFailed, Answer, Effort
from switchyard_worker.agents.claude_result import failure_in, spending_of
from switchyard_worker.agents.clock import elapsed_ms, monotonic
from switchyard_worker.agents.sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLINotFoundError,
    HookContext,
    HookEvent,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    Message,
    ResultError,
    ResultMessage,
)
from switchyard_worker.agents.spending import SessionSpending
from switchyard_worker.agents.todos import Todos, changed, ended, todo_changes
from switchyard_worker.agents.trace import ToolJournal, Trace
from switchyard_worker.boundary import (
    UNNAMED_MODEL,
    Assignment,
    mark_call,
    request_limit_ms,
    session_limit_ms,
)


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


INTERRUPT_SECONDS: Final = 2.0


class ClaudeAgent:
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        session = _Session(assignment)
        try:
            asyncio.run(session.ask(prompt))
        except ResultError:
            pass  # the result came first, and has more details
        except TimeoutError as error:
            message = f"Claude did not answer within {assignment.timeout_ms:,} ms"
            raise session.failure(FailureCategory.TIMEOUT, message) from error
        except ClaudeSDKError as error:
            raise session.failure(_category(error), str(error)) from error
        return session.answer()


class _Session:
    """Holds the SDK's messages outside the call, which may end in an exception."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._hooks = SessionHooks(step=assignment.step_name)
        self._result: ResultMessage | None = None
        self._kind_of_error: str | None = None

    async def ask(self, prompt: str) -> None:
        """Raise `TimeoutError` or `ClaudeSDKError`."""
        client = ClaudeSDKClient(options_for(self._assignment, self._hooks))
        try:
            async with asyncio.timeout(session_limit_ms(self._assignment.timeout_ms) / 1000):
                await client.connect()
                await client.query(prompt)
                await self._listen(client)
        except TimeoutError:
            await self._break_off(client)
            raise
        finally:
            await client.disconnect()

    async def _listen(self, client: ClaudeSDKClient) -> None:
        async for message in client.receive_response():
            self._record(message)

    async def _break_off(self, client: ClaudeSDKClient) -> None:
        """Interrupt the session, which stops its tools and still reports what it cost."""
        with suppress(TimeoutError, ClaudeSDKError):
            async with asyncio.timeout(INTERRUPT_SECONDS):
                await client.interrupt()
                await self._listen(client)

    def answer(self) -> Answer:
        """Raise `AgentFailed`."""
        result = self._result
        if result is None:
            raise self.failure(FailureCategory.CHILD_DIED, "Claude ended without a result")
        wants_structure = self._assignment.output_schema is not None
        failure = failure_in(
            result,
            kind=self._kind_of_error,
            request_limit_ms=request_limit_ms(self._assignment.timeout_ms),
            wants_structure=wants_structure,
        )
        if failure is not None:
            raise self.failure(failure.category, failure.message)
        output: Any = result.structured_output if wants_structure else {"text": result.result or ""}
        return Answer(output=output, effort=self._effort())

    def failure(self, category: FailureCategory, message: str) -> AgentFailed:
        return AgentFailed(category, message, effort=self._effort())

    def _effort(self) -> Effort:
        result = self._result
        spent = spending_of(result, self._assignment.model) if result else SessionSpending()
        return spent.effort(turns=result.num_turns if result else 0, trace=self._hooks.trace())

    def _record(self, message: Message) -> None:
        if isinstance(message, ResultMessage):
            self._result = message
        elif isinstance(message, AssistantMessage):
            self._kind_of_error = message.error


def _category(error: ClaudeSDKError) -> FailureCategory:
    if isinstance(error, CLINotFoundError):
        return FailureCategory.NOT_FOUND
    return FailureCategory.CHILD_DIED


MAX_MESSAGE_BYTES: Final = 32 * 1024 * 1024  # more than an output may have, with its escapes


def options_for(assignment: Assignment, hooks: SessionHooks) -> ClaudeAgentOptions:
    tools = list(assignment.tools)
    schema = assignment.output_schema
    return ClaudeAgentOptions(
        model=None if assignment.model == UNNAMED_MODEL else assignment.model,
        max_turns=assignment.max_turns,
        max_budget_usd=assignment.max_cost_usd,
        tools=tools,  # `allowed_tools` alone would leave every tool in place
        allowed_tools=tools,
        permission_mode="dontAsk",
        setting_sources=[],
        strict_mcp_config=True,
        verbatim_prompts=True,  # else `@/path` in an input reads that file
        output_format={"type": "json_schema", "schema": dict(schema)} if schema else None,
        hooks=hooks.matchers(),
        extra_args={"no-session-persistence": None},
        max_buffer_size=MAX_MESSAGE_BYTES,
        stderr=_show,
        env=_environment(assignment),
    )


def _environment(assignment: Assignment) -> dict[str, str]:
    """Return variables for the CLI; `CLAUDE_CONFIG_DIR` comes with the child's environment."""
    return {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",  # else a second call is paid for
        # Else the CLI asks again by itself, and its attempts multiply ours.
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
        "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
        "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
        "API_TIMEOUT_MS": str(request_limit_ms(assignment.timeout_ms)),
        **_helper_model(assignment.model),
    }


def _helper_model(model: str) -> dict[str, str]:
    """Make searches and summaries use the task's own model: its token is valid for no other."""
    if model == UNNAMED_MODEL:
        return {}
    return {"ANTHROPIC_SMALL_FAST_MODEL": model, "ANTHROPIC_DEFAULT_HAIKU_MODEL": model}


def _show(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the worker keeps what the child prints
