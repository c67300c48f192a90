"""An agent that needs no network, costs nothing and always answers the same.

A task's input may script it under the key `offline`; `docs/agents.md` lists what a script can say.
"""

import json
from collections.abc import Mapping
from typing import Any

from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.agents.agent import AgentFailed, Answer, Effort
from switchyard_worker.agents.clock import sleep
from switchyard_worker.agents.schema_example import example_of
from switchyard_worker.agents.trace import CacheUse, ToolCall, Trace, excerpt
from switchyard_worker.boundary import Assignment, mark_call

CHARACTERS_PER_TOKEN = 4

Script = Mapping[str, Any]


class OfflineAgent:
    """Answers one step; it counts how often it failed."""

    def __init__(self) -> None:
        self._failures = 0

    def run(self, prompt: str, assignment: Assignment) -> Answer:
        script = _part(assignment.input, "offline")
        for call in _scripted_calls(script):
            mark_call(call["name"], call.get("input"), step=assignment.step_name)
        sleep(max(0, int(script.get("delayMs", assignment.offline_delay_ms))) / 1000)
        self._fail_if_scripted(script, prompt, assignment.attempt)
        output = _padded(script.get("output", _invented(prompt, assignment)), script)
        return Answer(output=output, effort=_effort(prompt, json.dumps(output), script))

    def _fail_if_scripted(self, script: Script, prompt: str, attempt: int) -> None:
        failure = script.get("fail")
        if not isinstance(failure, Mapping):
            return
        if attempt > int(failure.get("times", attempt)):
            return
        if self._failures >= int(failure.get("calls", self._failures + 1)):
            return
        self._failures += 1
        raise AgentFailed(
            _category(failure),
            str(failure.get("message", "the offline agent was scripted to fail")),
            effort=_effort(prompt, "", {"usage": _part(failure, "usage")}),
            retry_after_ms=failure.get("retryAfterMs"),
        )


def _category(failure: Script) -> FailureCategory:
    named = failure.get("category", FailureCategory.SERVER_ERROR)
    if named in list(FailureCategory):
        return FailureCategory(named)
    raise AgentFailed(
        FailureCategory.VALIDATION,
        f"offline.fail.category of the task's input is {excerpt(named)}; "
        f"use one of {', '.join(FailureCategory)}",
    )


def _part(given: Any, name: str) -> Script:
    part = given.get(name) if isinstance(given, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _invented(prompt: str, assignment: Assignment) -> Any:
    if assignment.output_schema is None:
        return {"text": f"Offline answer: {assignment.description.strip()[:200]}"}
    return example_of(assignment.output_schema, seed=prompt)


def _padded(output: Any, script: Script) -> Any:
    size = int(script.get("outputBytes", 0))
    return {**output, "padding": "x" * size} if size and isinstance(output, Mapping) else output


def _effort(prompt: str, output: str, script: Script) -> Effort:
    usage = _part(script, "usage")
    cache = CacheUse(
        input_tokens=int(usage.get("inputTokens", _tokens(prompt))),
        read_tokens=int(usage.get("cacheReadTokens", 0)),
        creation_tokens=int(usage.get("cacheCreationTokens", 0)),
    )
    return Effort(
        turns=int(script.get("turns", 1)),
        input_tokens=cache.input_tokens,
        output_tokens=int(usage.get("outputTokens", _tokens(output))),
        cache_read_tokens=cache.read_tokens,
        cache_creation_tokens=cache.creation_tokens,
        cost_usd=float(usage.get("costUsd", 0.0)),
        trace=Trace(tool_calls=_tool_calls(script), cache=cache),
    )


def _scripted_calls(script: Script) -> list[Script]:
    calls = script.get("toolCalls", ())
    return [call for call in calls if isinstance(call, Mapping) and "name" in call]


def _tool_calls(script: Script) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            name=str(call["name"]),
            duration_ms=int(call.get("durationMs", 0)),
            input=excerpt(call.get("input")),
            output=excerpt(call.get("output")),
            failed=bool(call.get("failed")),
        )
        for call in _scripted_calls(script)
    )


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
