"""How the Claude Agent SDK is asked: closed to everything that the definition does not name."""

from typing import Final

from claude_agent_sdk import ClaudeAgentOptions

from worker.agents.hooks import SessionHooks
from worker.agents.time_limits import request_limit_ms
from worker.task.assignment import Assignment

MAX_MESSAGE_BYTES: Final = 32 * 1024 * 1024  # more than an output may have, with its escapes
UNNAMED_MODEL: Final = "inherit"  # the CLI would send the word itself


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
    """`CLAUDE_CONFIG_DIR`, one per task, comes with the child's environment."""
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
    """Searches and summaries by the task's own model: its token opens no other."""
    if model == UNNAMED_MODEL:
        return {}
    return {"ANTHROPIC_SMALL_FAST_MODEL": model, "ANTHROPIC_DEFAULT_HAIKU_MODEL": model}


def _show(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the worker keeps what the child prints
