"""What the child says about its attempt, and what the worker believes of it."""

import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from switchyard.contracts.wire import CleanText, Wire
from switchyard.domain.errors import Problem
from switchyard.domain.json_values import problem_in
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.domain.text import without_control_characters
from worker.redaction import Redaction
from worker.schema_check import UnusableSchema
from worker.schema_guard import guarded_mismatch
from worker.task.report import OUTCOME_FILE
from worker.untrusted_file import NotReadable, read_bounded
from worker.verdict import Completed, Failed

MAX_OUTPUT_BYTES: Final = 10_000_000  # it is read into memory here, and by all that follow it
MAX_OUTCOME_BYTES: Final = 20 * 1024 * 1024  # room for an output that is too large, to say so
MAX_ERROR_CHARACTERS: Final = 2_000
MAX_COUNT: Final = 10**12  # far more than an attempt can use, and a number that can be stored
MAX_COST_USD: Final = 10**6
COST_DIGITS: Final = 9

Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]


class ChildUsage(Wire):
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_creation_tokens: Count = 0


class ChildOutcome(Wire):
    """Everything in it was written by a process that an agent could have talked into anything."""

    status: Literal["completed", "failed"]
    output: Any = None
    error: CleanText | None = None
    category: FailureCategory | None = None
    retry_after_ms: Count | None = None
    duration_ms: Count = 0
    usage: ChildUsage = ChildUsage()
    cost_usd: float = Field(default=0.0, ge=0, le=MAX_COST_USD, allow_inf_nan=False)
    turns: Count = 0

    def spent(self) -> Usage:
        return Usage(
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cache_read_tokens=self.usage.cache_read_tokens,
            cost_usd=round(self.cost_usd, COST_DIGITS),  # DynamoDB has no 1e-200
        )


class _Unbelievable(Exception):
    """The child's answer cannot be taken as it is."""

    def __init__(
        self, category: FailureCategory, message: str, *, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.category = category
        self.retry_after_ms = retry_after_ms


def judge(
    folder: Path,
    *,
    exit_code: int,
    duration_ms: int,
    schema: Mapping[str, Any] | None,
    redaction: Redaction,
) -> Completed | Failed:
    """The verdict on a child that ended by itself."""
    usage = Usage()
    try:
        outcome = _read(folder, exit_code, redaction)
        usage = outcome.spent()
        if outcome.status == "failed":
            raise _Unbelievable(
                outcome.category or FailureCategory.PROGRAMMING,
                outcome.error or "unknown",
                retry_after_ms=outcome.retry_after_ms,
            )
        _check_output(outcome.output, schema)
    except _Unbelievable as problem:
        return Failed(
            category=problem.category,
            error=str(problem)[:MAX_ERROR_CHARACTERS],
            usage=usage,
            duration_ms=duration_ms,
            exit_code=exit_code,
            retry_after_ms=problem.retry_after_ms,
        )
    return Completed(output=outcome.output, usage=usage, duration_ms=duration_ms)


def _read(folder: Path, exit_code: int, redaction: Redaction) -> ChildOutcome:
    try:
        written = read_bounded(folder / OUTCOME_FILE, max_bytes=MAX_OUTCOME_BYTES)
        outcome = ChildOutcome.model_validate_json(written)
        said = {"output": outcome.output, "error": outcome.error}
        outcome = outcome.model_copy(update=redaction.value(said))
    except FileNotFoundError:
        raise _Unbelievable(FailureCategory.CHILD_DIED, _how_it_died(exit_code)) from None
    except (NotReadable, ValidationError) as error:
        reason = _first_problem(error) if isinstance(error, ValidationError) else error
        message = f"the child's outcome cannot be understood: {reason}"
        raise _Unbelievable(FailureCategory.PARSE, message) from error
    if (exit_code == 0) is not (outcome.status == "completed"):
        raise _Unbelievable(FailureCategory.CHILD_DIED, _how_it_died(exit_code))
    return outcome


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return without_control_characters(str(Problem(first["loc"], first["msg"])))


def _how_it_died(exit_code: int) -> str:
    if exit_code == -signal.SIGKILL:
        return "the child was killed, as by the system when memory runs out, and left no outcome"
    if exit_code < 0:
        return f"the child was killed by signal {-exit_code} and left no outcome"
    return f"the child ended with exit code {exit_code} and left no outcome"


def _check_output(output: Any, schema: Mapping[str, Any] | None) -> None:
    problem = problem_in(output)
    if problem is not None:
        raise _Unbelievable(FailureCategory.PARSE, f"the output {problem}")
    size = len(json.dumps(output, ensure_ascii=False).encode())
    if size > MAX_OUTPUT_BYTES:
        raise _Unbelievable(
            FailureCategory.VALIDATION,
            f"the output has {size:,} bytes, {MAX_OUTPUT_BYTES:,} are allowed;"
            " it is in the artifacts",
        )
    if schema is not None:
        _check_against(schema, output)


def _check_against(schema: Mapping[str, Any], output: Any) -> None:
    try:
        problem = guarded_mismatch(output, schema)
    except UnusableSchema as error:
        message = f"the output schema cannot be applied: {error}"
        raise _Unbelievable(FailureCategory.VALIDATION, message) from error
    if problem is not None:
        message = f"the output does not match its schema: {problem}"
        raise _Unbelievable(FailureCategory.PARSE, message)
