"""An agent that needs no network, costs nothing and always answers the same.

A task's input may script it under the key `offline`:

    {"delayMs": 50, "output": {…}, "usage": {"inputTokens": 7},
     "fail": {"category": "server-error", "message": "…", "times": 1}}

`times` counts attempts: the task fails that often, then succeeds; without it, always.
"""

import json
from collections.abc import Mapping
from typing import Any

from switchyard.domain.failures import FailureCategory
from worker.agents.agent import AgentFailed, Answer, Effort
from worker.agents.schema_example import example_of
from worker.task.assignment import Assignment
from worker.task.clock import sleep

CHARACTERS_PER_TOKEN = 4


class OfflineAgent:
    def run(self, prompt: str, assignment: Assignment) -> Answer:
        script = _script(assignment.input)
        sleep(max(0, int(script.get("delayMs", assignment.offline_delay_ms))) / 1000)
        _fail_if_scripted(script.get("fail"), prompt, assignment.attempt)
        output = script.get("output", _invented(prompt, assignment))
        return Answer(output=output, effort=_effort(prompt, json.dumps(output), script))


def _script(given: Any) -> Mapping[str, Any]:
    script = given.get("offline") if isinstance(given, Mapping) else None
    return script if isinstance(script, Mapping) else {}


def _fail_if_scripted(failure: Any, prompt: str, attempt: int) -> None:
    if not isinstance(failure, Mapping) or attempt > int(failure.get("times", attempt)):
        return
    raise AgentFailed(
        FailureCategory(failure.get("category", FailureCategory.SERVER_ERROR)),
        str(failure.get("message", "the offline agent was told to fail")),
        effort=_effort(prompt, "", {}),
    )


def _invented(prompt: str, assignment: Assignment) -> Any:
    if assignment.output_schema is None:
        return {"text": f"Offline answer: {assignment.description.strip()[:200]}"}
    return example_of(assignment.output_schema, seed=prompt)


def _effort(prompt: str, output: str, script: Mapping[str, Any]) -> Effort:
    usage = script.get("usage")
    told = usage if isinstance(usage, Mapping) else {}
    return Effort(
        turns=1,
        input_tokens=int(told.get("inputTokens", _tokens(prompt))),
        output_tokens=int(told.get("outputTokens", _tokens(output))),
        cache_read_tokens=int(told.get("cacheReadTokens", 0)),
        cost_usd=float(told.get("costUsd", 0.0)),
    )


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
