"""What came of a task and of each of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from switchyard.domain.error_text import error_text
from switchyard.domain.tasks.failures import FailureCategory, category_of
from worker.agents.agent import AgentFailed, Effort
from worker.task.limits import limit_hit_by

MAX_ERROR_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    category: FailureCategory
    error: str
    retry_after_ms: int | None = None

    @classmethod
    def by(cls, error: Exception) -> "Failure":
        """Of something that nobody foresaw, or that hit a limit."""
        told = limit_hit_by(error) or f"{type(error).__name__}: {error}"
        return cls.of(AgentFailed(category_of(error), told))

    @classmethod
    def of(cls, failed: AgentFailed, *, step: str | None = None) -> "Failure":
        told = error_text(str(failed), max_characters=MAX_ERROR_CHARACTERS)
        return cls(
            category=failed.category,
            error=f"step {step!r}: {told}" if step else told,
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
        """Of all steps together; what each did on its way is in its own."""
        efforts = [step.effort for step in self.steps]
        return Effort(
            turns=sum(effort.turns for effort in efforts),
            input_tokens=sum(effort.input_tokens for effort in efforts),
            output_tokens=sum(effort.output_tokens for effort in efforts),
            cache_read_tokens=sum(effort.cache_read_tokens for effort in efforts),
            cache_creation_tokens=sum(effort.cache_creation_tokens for effort in efforts),
            cost_usd=sum(effort.cost_usd for effort in efforts),
        )
