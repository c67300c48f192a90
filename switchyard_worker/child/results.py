"""The results of a task and its steps, and the files that the child writes about them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from switchyard.domain.error_text import error_text
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.tasks.failures import FailureCategory, category_of
from switchyard_worker.agents.agent import AgentFailed, Effort
from switchyard_worker.boundary import OUTCOME_FILE, SUMMARY_FILE, TRACE_FILE, Assignment
from switchyard_worker.child.limits import limit_hit_by

MAX_ERROR_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    category: FailureCategory
    error: str
    retry_after_ms: int | None = None

    @classmethod
    def by(cls, error: Exception) -> "Failure":
        """Return the failure that an unexpected exception means, or one that hit a limit."""
        text = limit_hit_by(error) or f"{type(error).__name__}: {error}"
        return cls.of(AgentFailed(category_of(error), text))

    @classmethod
    def of(cls, failed: AgentFailed, *, step: str | None = None) -> "Failure":
        text = error_text(str(failed), max_characters=MAX_ERROR_CHARACTERS)
        return cls(
            category=failed.category,
            error=f"step {step!r}: {text}" if step else text,
            retry_after_ms=failed.retry_after_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    name: str
    prompt: str
    duration_ms: int
    effort: Effort
    output: Any = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    duration_ms: int = 0
    steps: Sequence[StepResult] = ()
    failure: Failure | None = None

    @property
    def completed(self) -> bool:
        return self.failure is None

    @property
    def output(self) -> Any:
        return self.steps[-1].output if self.completed and self.steps else None

    @property
    def effort(self) -> Effort:
        """Return the effort of all steps together; their traces stay in each step."""
        efforts = [step.effort for step in self.steps]
        return Effort(
            turns=sum(effort.turns for effort in efforts),
            input_tokens=sum(effort.input_tokens for effort in efforts),
            output_tokens=sum(effort.output_tokens for effort in efforts),
            cache_read_tokens=sum(effort.cache_read_tokens for effort in efforts),
            cache_creation_tokens=sum(effort.cache_creation_tokens for effort in efforts),
            cost_usd=sum(effort.cost_usd for effort in efforts),
        )


def write_output(output: Any, folder: Path, name: str, *, is_result: bool) -> None:
    path = folder / "artifacts" / name
    _write_json(path, output)
    result = folder / RESULT_FILE
    if is_result and result != path:
        _write_json(result, output)


def write_outcome(result: TaskResult, folder: Path) -> None:
    """Write the outcome last and by a rename, so that the worker reads all of it or nothing."""
    unfinished = folder / f"{OUTCOME_FILE}.part"
    unfinished.write_text(json.dumps(_outcome(result), ensure_ascii=False), encoding="utf-8")
    unfinished.replace(folder / OUTCOME_FILE)


def write_summary(
    assignment: Assignment, result: TaskResult, folder: Path, *, running: str | None = None
) -> None:
    """Write a summary for people, also before each step: a killed attempt shows its progress."""
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
        _who(assignment),
        f"status    {f'running {running}' if running else _status(result)}",
        f"duration  {result.duration_ms} ms, {effort.turns} turns",
        f"tokens    {effort.input_tokens} in, {effort.output_tokens} out, "
        f"{effort.cache_read_tokens} from the cache",
        f"cost      {effort.cost_usd:.4f} USD",
    ]
    if result.failure:
        lines.append(f"error     {result.failure.category}: {result.failure.error}")
    return lines


def _who(assignment: Assignment) -> str:
    code = assignment.code
    if code is None:
        return f"agent     {assignment.backend} ({assignment.model})"
    return f"code      {code.function or ' '.join(code.command)}"


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
