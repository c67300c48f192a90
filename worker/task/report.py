"""What the child leaves behind: its result, a summary and a trace for people, its outcome."""

import json
from pathlib import Path
from typing import Any, Final

from switchyard.domain.artifacts import RESULT_FILE
from worker.task.assignment import Assignment
from worker.task.step import STEP, StepResult

OUTCOME_FILE: Final = "outcome.json"


def write_report(assignment: Assignment, step: StepResult, folder: Path) -> None:
    if step.completed:
        _write_json(folder / RESULT_FILE, step.output)
    summary = folder / "logs" / "summary.log"
    summary.write_text(_summary(assignment, step), encoding="utf-8")
    _write_json(folder / "traces" / "session_trace.json", _trace(assignment, step))


def write_outcome(step: StepResult, folder: Path) -> None:
    """Last, and by a rename: the worker finds all of it or nothing. No person reads it."""
    unfinished = folder / f"{OUTCOME_FILE}.part"
    unfinished.write_text(json.dumps(_outcome(step), ensure_ascii=False), encoding="utf-8")
    unfinished.replace(folder / OUTCOME_FILE)


def _outcome(step: StepResult) -> dict[str, Any]:
    return {
        "status": "completed" if step.completed else "failed",
        "output": step.output,
        "error": step.error,
        "category": step.category,
        "durationMs": step.duration_ms,
        "usage": _usage(step),
        "costUsd": step.effort.cost_usd,
        "turns": step.effort.turns,
    }


def _usage(step: StepResult) -> dict[str, int]:
    return {
        "inputTokens": step.effort.input_tokens,
        "outputTokens": step.effort.output_tokens,
        "cacheReadTokens": step.effort.cache_read_tokens,
        "cacheCreationTokens": step.effort.cache_creation_tokens,
    }


def _trace(assignment: Assignment, step: StepResult) -> dict[str, Any]:
    return {
        "requestId": assignment.request_id,
        "attempt": assignment.attempt,
        "steps": [
            {
                "name": STEP,
                "agent": assignment.backend,
                "model": assignment.model,
                "status": "completed" if step.completed else "failed",
                "durationMs": step.duration_ms,
                "turns": step.effort.turns,
                "usage": _usage(step),
                "costUsd": step.effort.cost_usd,
                "toolCalls": [
                    {"name": call.name, "durationMs": call.duration_ms}
                    for call in step.effort.tool_calls
                ],
            }
        ],
    }


def _summary(assignment: Assignment, step: StepResult) -> str:
    effort = step.effort
    lines = [
        f"task      {assignment.request_id}",
        f"attempt   {assignment.attempt}",
        f"agent     {assignment.backend} ({assignment.model})",
        f"status    {'completed' if step.completed else 'failed'}",
        f"duration  {step.duration_ms} ms, {effort.turns} turns",
        f"tokens    {effort.input_tokens} in, {effort.output_tokens} out, "
        f"{effort.cache_read_tokens} from the cache",
        f"cost      {effort.cost_usd:.4f} USD",
    ]
    if not step.completed:
        lines.append(f"error     {step.category}: {step.error}")
    return "\n".join(lines) + "\n"


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
