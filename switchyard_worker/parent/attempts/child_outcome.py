"""Reads and checks the outcome that a child wrote, and comes to a verdict on it."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from switchyard.bootstrap import Offload
from switchyard.contracts.wire import CleanText, Closed
from switchyard.domain.error_text import error_text
from switchyard.domain.errors import Problem
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.domain.text import without_control_characters
from switchyard_worker.boundary import OUTCOME_FILE
from switchyard_worker.guard.examine import Finding, Wrong, examine_outcome
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.guard.starting import GuardUnavailable
from switchyard_worker.parent.attempts.guard_client import GuardClient
from switchyard_worker.parent.attempts.verdict import (
    MAX_ERROR_CHARACTERS,
    NOTHING_USED,
    Concluded,
    completed,
    failed,
)
from switchyard_worker.parent.files.confined import NotReadable
from switchyard_worker.parent.files.folder import TaskFolder

MAX_OUTCOME_BYTES: Final = 20 * 1024 * 1024  # room for an output that is too large, to say so
MAX_COUNT: Final = 10**12  # far more than an attempt can use, and a number that can be stored
MAX_COST_USD: Final = 10**6
COST_DIGITS: Final = 9

SMALL_BYTES: Final = 64_000
"""An outcome without a schema that is read here, since a process of its own would take longer."""

_UNCHECKED: Final = "the child's outcome cannot be checked"
_UNUSABLE: Final = "the output schema cannot be applied"
_ABOUT_OUTPUTS: Final[Mapping[Wrong, tuple[FailureCategory, str]]] = {
    Wrong.NOT_JSON: (FailureCategory.PARSE, "the output {}"),
    Wrong.TOO_LARGE: (FailureCategory.VALIDATION, "the output {}; it is in the artifacts"),
    Wrong.UNUSABLE: (FailureCategory.VALIDATION, f"{_UNUSABLE}: {{}}"),
    Wrong.MISMATCH: (FailureCategory.PARSE, "the output does not match its schema: {}"),
}

Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]


class ChildUsage(Closed):
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_creation_tokens: Count = 0


class ChildOutcome(Closed):
    """The members of a child's outcome, without its output.

    Everything in it was written by a process that an agent could have talked into anything.
    """

    status: Literal["completed", "failed"]
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


class _NotCompleted(Exception):
    """The child's outcome is not one of a completed task."""

    def __init__(
        self, category: FailureCategory, message: str, *, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.category = category
        self.retry_after_ms = retry_after_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Comes to a verdict on a child that ended by itself."""

    guard: GuardClient
    offload: Offload

    async def verdict(
        self,
        folder: TaskFolder,
        *,
        exit_code: int,
        duration_ms: int,
        schema: Mapping[str, Any] | None,
        redaction: Redaction,
    ) -> Concluded:
        usage = NOTHING_USED
        try:
            written = await self.offload(_written, folder, exit_code)
            finding = await self._examined(written, schema, redaction)
            outcome = _understood(finding, exit_code)
            usage = outcome.spent()
            _check(outcome, finding)
            # Bounded: an output that passed has few enough values to be read at once.
            output = await self.offload(json.loads, finding.output)
        except _NotCompleted as problem:
            return failed(
                category=problem.category,
                error=error_text(str(problem), max_characters=MAX_ERROR_CHARACTERS),
                usage=usage,
                duration_ms=duration_ms,
                exit_code=exit_code,
                retry_after_ms=problem.retry_after_ms,
            )
        return completed(output=output, usage=usage, duration_ms=duration_ms)

    async def _examined(
        self, written: bytes, schema: Mapping[str, Any] | None, redaction: Redaction
    ) -> Finding:
        if schema is None and len(written) <= SMALL_BYTES:
            return await self.offload(examine_outcome, written, None, redaction)
        try:
            finding = await self.guard.check_outcome(written, schema, redaction)
        except GuardUnavailable as problem:
            raise _NotCompleted(FailureCategory.SERVER_ERROR, str(problem)) from problem
        if finding.wrong is Wrong.UNCHECKED:
            text = _UNCHECKED if schema is None else _UNUSABLE
            raise _NotCompleted(FailureCategory.VALIDATION, f"{text}: {finding.message}")
        return finding


def _written(folder: TaskFolder, exit_code: int) -> bytes:
    try:
        return folder.read(OUTCOME_FILE, max_bytes=MAX_OUTCOME_BYTES)
    except FileNotFoundError:
        raise _NotCompleted(FailureCategory.CHILD_DIED, _how_it_died(exit_code)) from None
    except NotReadable as error:
        raise _not_understood(str(error)) from error


def _understood(finding: Finding, exit_code: int) -> ChildOutcome:
    if finding.wrong is Wrong.UNREADABLE:
        raise _not_understood(without_control_characters(finding.message))
    try:
        outcome = ChildOutcome.model_validate(finding.rest)
    except ValidationError as error:
        raise _not_understood(_first_problem(error)) from error
    if (exit_code == 0) is not (outcome.status == "completed"):
        raise _NotCompleted(FailureCategory.CHILD_DIED, _how_it_died(exit_code))
    return outcome


def _check(outcome: ChildOutcome, finding: Finding) -> None:
    if outcome.status == "failed":
        raise _NotCompleted(
            outcome.category or FailureCategory.PROGRAMMING,
            outcome.error or "unknown",
            retry_after_ms=outcome.retry_after_ms,
        )
    if finding.wrong is not None:
        category, text = _ABOUT_OUTPUTS[finding.wrong]
        raise _NotCompleted(category, text.format(finding.message))


def _not_understood(reason: str) -> _NotCompleted:
    message = f"the child's outcome cannot be understood: {reason}"
    return _NotCompleted(FailureCategory.PARSE, message)


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return without_control_characters(str(Problem(first["loc"], first["msg"])))


def _how_it_died(exit_code: int) -> str:
    if exit_code == -signal.SIGKILL:
        return "the child was killed, as by the system when memory runs out, and left no outcome"
    if exit_code < 0:
        return f"the child was killed by signal {-exit_code} and left no outcome"
    return f"the child ended with exit code {exit_code} and left no outcome"
