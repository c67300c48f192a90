"""What the child leaves behind: its result, a summary and a trace for people, its outcome."""

import json
from pathlib import Path
from typing import Any, Final

from switchyard.domain.prompts.artifacts import RESULT_FILE
from worker.agents.agent import Effort
from worker.task.assignment import Assignment
from worker.task.results import StepResult, TaskResult

OUTCOME_FILE: Final = "outcome.json"
TRACE_FILE: Final = "traces/session_trace.json"
SUMMARY_FILE: Final = "logs/summary.log"


def write_output(output: Any, folder: Path, name: str, *, is_result: bool) -> None:
    path = folder / "artifacts" / name
    _write_json(path, output)
    result = folder / RESULT_FILE
    if is_result and result != path:
        _write_json(result, output)


def write_outcome(result: TaskResult, folder: Path) -> None:
    """Last, and by a rename: the worker finds all of it or nothing. No person reads it."""
    unfinished = folder / f"{OUTCOME_FILE}.part"
    unfinished.write_text(json.dumps(_outcome(result), ensure_ascii=False), encoding="utf-8")
    unfinished.replace(folder / OUTCOME_FILE)


def write_summary(
    assignment: Assignment, result: TaskResult, folder: Path, *, running: str | None = None
) -> None:
    """Also before each step, so that an attempt which is killed says how far it came."""
    lines = [*_heading(assignment, result, running), *map(_line, result.steps)]
    (folder / SUMMARY_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_trace(assignment: Assignment, result: TaskResult, folder: Path) -> None:
    trace = {
        "requestId": assignment.request_id,
        "attempt": assignment.attempt,
        "agent": assignment.backend,
        "model": assignment.model,
        "traceparent": assignment.traceparent,
        "steps": list(map(_traced, result.steps)),
    }
    _write_json(folder / TRACE_FILE, trace)


def _outcome(result: TaskResult) -> dict[str, Any]:
    failure = result.failure
    return {
        "status": _status(result),
        "output": result.output,
        "error": failure and failure.error,
        "category": failure and failure.category,
        "retryAfterMs": failure and failure.retry_after_ms,
        "durationMs": result.duration_ms,
        "usage": _usage(result.effort),
        "costUsd": result.effort.cost_usd,
        "turns": result.effort.turns,
    }


def _usage(effort: Effort) -> dict[str, int]:
    return {
        "inputTokens": effort.input_tokens,
        "outputTokens": effort.output_tokens,
        "cacheReadTokens": effort.cache_read_tokens,
        "cacheCreationTokens": effort.cache_creation_tokens,
    }


def _traced(step: StepResult) -> dict[str, Any]:
    return {
        "name": step.name,
        "status": _status(step),
        "error": step.failure and step.failure.error,
        "durationMs": step.duration_ms,
        "turns": step.effort.turns,
        "usage": _usage(step.effort),
        "costUsd": step.effort.cost_usd,
        **step.effort.trace.as_json(),
        "prompt": step.prompt,
    }


def _heading(assignment: Assignment, result: TaskResult, running: str | None) -> list[str]:
    effort = result.effort
    lines = [
        f"task      {assignment.request_id}",
        f"attempt   {assignment.attempt}",
        f"agent     {assignment.backend} ({assignment.model})",
        f"status    {f'running {running}' if running else _status(result)}",
        f"duration  {result.duration_ms} ms, {effort.turns} turns",
        f"tokens    {effort.input_tokens} in, {effort.output_tokens} out, "
        f"{effort.cache_read_tokens} from the cache",
        f"cost      {effort.cost_usd:.4f} USD",
    ]
    if result.failure:
        lines.append(f"error     {result.failure.category}: {result.failure.error}")
    return lines


def _line(step: StepResult) -> str:
    effort = step.effort
    return (
        f"step      {step.name}: {_status(step)}, {step.duration_ms} ms, {effort.turns} turns, "
        f"{len(effort.tool_calls)} tool calls"
    )


def _status(result: TaskResult | StepResult) -> str:
    return "failed" if result.failure else "completed"


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
