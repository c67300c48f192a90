"""One step of a task: its prompt is built and kept, the agent asked, its answer processed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchyard.domain.prompts.placeholders import MissingValue
from switchyard.domain.prompts.prompt import build_prompt
from switchyard.domain.tasks.failures import FailureCategory, category_of
from worker.agents.agent import Agent, AgentFailed, Answer
from worker.task.asking import ask
from worker.task.assignment import TASK_STEP, Assignment, Step
from worker.task.clock import Deadline, elapsed_ms, monotonic
from worker.task.markers import mark
from worker.task.processing import process_named
from worker.task.results import Failure, StepResult

Choose = Callable[[str], Agent]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRun:
    step: Step
    assignment: Assignment
    """As the step's agent is told."""
    folder: Path
    deadline: Deadline
    """The attempt's."""
    earlier: Mapping[str, Any]
    """The outputs of the steps before it."""

    def result(self, choose: Choose) -> StepResult:
        mark("step_running", step=self.step.name)
        began = monotonic()
        prompt = ""
        try:
            prompt = self._prompt()
            agent = choose(self.assignment.backend)
            answer = self._processed(ask(agent, prompt, self.assignment, self.deadline))
        except AgentFailed as failed:
            return StepResult(
                name=self.step.name,
                prompt=prompt,
                duration_ms=elapsed_ms(began),
                effort=failed.effort,
                failure=Failure.of(failed, step=self._shown_name),
            )
        return StepResult(
            name=self.step.name,
            prompt=prompt,
            duration_ms=elapsed_ms(began),
            effort=answer.effort,
            output=answer.output,
        )

    @property
    def _shown_name(self) -> str | None:
        """An error names its step only where there are several."""
        return self.step.name if self.step.name != TASK_STEP else None

    def _prompt(self) -> str:
        try:
            prompt = build_prompt(
                tag=self.assignment.tag,
                description=self.step.description,
                given=self.assignment.input,
                context=self.assignment.context,
                steps=self.earlier,
            )
        except MissingValue as missing:
            raise AgentFailed(FailureCategory.VALIDATION, str(missing)) from missing
        path = self.folder / "logs" / f"{self.step.name}.prompt.md"
        path.write_text(prompt, encoding="utf-8")
        return prompt

    def _processed(self, answer: Answer) -> Answer:
        name = self.step.process_output
        if name is None:
            return answer
        try:
            output = process_named(name)(answer.output)
        except Exception as error:
            message = f"processOutput {name!r} failed: {type(error).__name__}: {error}"
            raise AgentFailed(category_of(error), message, effort=answer.effort) from error
        return Answer(output=output, effort=answer.effort)
