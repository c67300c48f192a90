"""Claude, through the Claude Agent SDK. Importing this module takes a second."""

import asyncio
from dataclasses import replace
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLINotFoundError,
    Message,
    ResultError,
    ResultMessage,
    UserMessage,
)

from switchyard.domain.failures import FailureCategory
from worker.agents.agent import AgentFailed, Answer, Effort
from worker.agents.claude_result import effort_of, failure_in
from worker.agents.tool_calls import ToolCalls
from worker.task.assignment import Assignment

SHARE_OF_THE_TIMEOUT = 0.9  # a request that hangs fails before the worker kills the attempt


class ClaudeAgent:
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        session = _Session()
        try:
            asyncio.run(session.ask(prompt, _options(assignment)))
        except ResultError:
            pass  # the result came first, and says more
        except ClaudeSDKError as error:
            raise AgentFailed(_category(error), str(error), effort=session.effort) from error
        return _answer(session, wants_structure=assignment.output_schema is not None)


class _Session:
    """What was heard from the SDK; kept outside the call, which may end in an exception."""

    def __init__(self) -> None:
        self.result: ResultMessage | None = None
        self._tool_calls = ToolCalls()

    async def ask(self, prompt: str, options: ClaudeAgentOptions) -> None:
        async with ClaudeSDKClient(options) as client:
            await client.query(prompt)
            async for message in client.receive_response():
                self._hear(message)

    @property
    def effort(self) -> Effort:
        spent = effort_of(self.result) if self.result else Effort()
        return replace(spent, tool_calls=self._tool_calls.finished())

    def _hear(self, message: Message) -> None:
        if isinstance(message, ResultMessage):
            self.result = message
        elif isinstance(message, AssistantMessage | UserMessage):
            self._tool_calls.hear(message.content)


def _answer(session: _Session, *, wants_structure: bool) -> Answer:
    result = session.result
    if result is None:
        raise AgentFailed(
            FailureCategory.CHILD_DIED, "Claude ended without a result", effort=session.effort
        )
    failure = failure_in(result, wants_structure=wants_structure)
    if failure is not None:
        raise AgentFailed(failure.category, failure.message, effort=session.effort)
    output: Any = result.structured_output if wants_structure else {"text": result.result or ""}
    return Answer(output=output, effort=session.effort)


def _options(assignment: Assignment) -> ClaudeAgentOptions:
    tools = list(assignment.tools)
    schema = assignment.output_schema
    return ClaudeAgentOptions(
        model=assignment.model,
        max_turns=assignment.max_turns,
        tools=tools,  # `allowed_tools` alone would leave every tool in place
        allowed_tools=tools,
        permission_mode="dontAsk",
        setting_sources=[],
        strict_mcp_config=True,
        verbatim_prompts=True,  # else `@/path` in an input reads that file
        output_format={"type": "json_schema", "schema": dict(schema)} if schema else None,
        extra_args={"no-session-persistence": None},
        stderr=_show,
        env={
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",  # else a second call is paid for
            "CLAUDE_CODE_MAX_RETRIES": "0",  # else its retries multiply ours
            "API_TIMEOUT_MS": str(int(assignment.timeout_ms * SHARE_OF_THE_TIMEOUT)),
        },
    )


def _show(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the worker keeps what the child prints


def _category(error: ClaudeSDKError) -> FailureCategory:
    if isinstance(error, CLINotFoundError):
        return FailureCategory.NOT_FOUND
    return FailureCategory.CHILD_DIED
