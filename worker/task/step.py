"""The one step of a task: the prompt is built and kept, the agent runs, its work is told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from switchyard.domain.failures import FailureCategory
from switchyard.domain.prompt import build_prompt
from worker.agents.agent import Agent, AgentFailed, Answer, Effort
from worker.task.assignment import Assignment
from worker.task.clock import elapsed_ms, monotonic
from worker.task.markers import mark

STEP: Final = "task-step"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    duration_ms: int
    effort: Effort
    output: Any = None
    error: str | None = None
    category: FailureCategory | None = None

    @property
    def completed(self) -> bool:
        return self.category is None


def run_step(assignment: Assignment, folder: Path, *, choose: Callable[[str], Agent]) -> StepResult:
    mark("step_running", step=STEP)
    prompt = build_prompt(
        tag=assignment.tag,
        description=assignment.description,
        given=assignment.input,
        context=assignment.context,
    )
    (folder / "logs" / f"{STEP}.prompt.md").write_text(prompt, encoding="utf-8")
    began = monotonic()
    try:
        answer = _ask(choose(assignment.backend), prompt, assignment)
    except AgentFailed as failure:
        return StepResult(
            duration_ms=elapsed_ms(began),
            effort=failure.effort,
            error=str(failure),
            category=failure.category,
        )
    return StepResult(duration_ms=elapsed_ms(began), effort=answer.effort, output=answer.output)


def _ask(agent: Agent, prompt: str, assignment: Assignment) -> Answer:
    mark("sdk_query", step=STEP)
    return agent.run(prompt, assignment)
