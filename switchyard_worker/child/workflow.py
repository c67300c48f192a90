"""Runs a task's steps one after the other; the first that fails ends it."""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchyard.domain.prompts.placeholders import MissingValue
from switchyard.domain.prompts.prompt import AboutAttempt, build_prompt
from switchyard.domain.tasks.failures import FailureCategory, category_of
from switchyard_worker.agents.agent import Agent, AgentFailed, Answer
from switchyard_worker.agents.clock import Deadline, elapsed_ms, monotonic
from switchyard_worker.boundary import INPUTS, TASK_STEP, Assignment, Step, mark
from switchyard_worker.child.ask_agent import ask
from switchyard_worker.child.processors import process_named
from switchyard_worker.child.results import (
    Failure,
    StepResult,
    TaskResult,
    write_output,
    write_summary,
    write_trace,
)

if TYPE_CHECKING:  # most tasks need no guard process
    from switchyard_worker.child.guard_client import BlockingGuard

Choose = Callable[[str], Agent]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRun:
    step: Step
    assignment: Assignment
    """The assignment of this step alone."""
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
        """Return the name for errors, which name a step only where there are several."""
        return self.step.name if self.step.name != TASK_STEP else None

    def _prompt(self) -> str:
        try:
            prompt = build_prompt(
                tag=self.assignment.tag,
                description=self.step.description,
                given=self.assignment.input,
                context=self.assignment.context,
                steps=self.earlier,
                has_tools=bool(self.assignment.tools),
                inputs=[f"{INPUTS}/{file.name}" for file in self.assignment.inputs],
                about=AboutAttempt(
                    artifacts=self.assignment.artifacts,
                    promised=self.assignment.promised,
                    missing=self.assignment.missing,
                    failed_parents=self.assignment.failed_parents,
                ),
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


class StepChecks:
    """Checks outputs of all but the last step against their schemas, in a guard process.

    The last step's output is the task's: the worker checks that one itself.
    """

    def __init__(self) -> None:
        self._guard: BlockingGuard | None = None

    def check(self, step: Step, output: Any) -> None:
        """Check an output; the checker is imported only if it is needed. Raise `AgentFailed`."""
        if step.output_schema is None:
            return
        from switchyard_worker.child.guard_client import BlockingGuard  # noqa: PLC0415
        from switchyard_worker.guard.examine import Wrong  # noqa: PLC0415
        from switchyard_worker.guard.starting import GuardUnavailable  # noqa: PLC0415

        self._guard = self._guard or BlockingGuard()
        try:
            finding = self._guard.check_value(json.dumps(output).encode(), step.output_schema)
        except GuardUnavailable as problem:
            raise AgentFailed(FailureCategory.SERVER_ERROR, str(problem)) from problem
        if finding.wrong is Wrong.MISMATCH:
            message = f"its output does not match its schema: {finding.message}"
            raise AgentFailed(FailureCategory.PARSE, message)
        if finding.wrong is not None:
            message = f"its output schema cannot be applied: {finding.message}"
            raise AgentFailed(FailureCategory.VALIDATION, message)

    def close(self) -> None:
        if self._guard:
            self._guard.close()


@dataclass(slots=True)
class Workflow:
    assignment: Assignment
    folder: Path
    choose: Choose
    _checks: StepChecks = field(default_factory=StepChecks)
    _results: list[StepResult] = field(default_factory=list)

    def run(self) -> TaskResult:
        began = monotonic()
        try:
            failure = self._run_all(began)
        except Exception as error:  # noqa: BLE001 - the steps before it were paid for
            traceback.print_exc()
            failure = Failure.by(error)
        finally:
            self._checks.close()
        result = self._so_far(began, failure)
        write_summary(self.assignment, result, self.folder)
        write_trace(self.assignment, result, self.folder)
        return result

    def _run_all(self, began: float) -> Failure | None:
        deadline = Deadline(self.assignment.timeout_ms)
        steps = self.assignment.in_order()
        for step in steps:
            write_summary(self.assignment, self._so_far(began), self.folder, running=step.name)
            failure = self._overspent() or self._run(step, deadline, last=step is steps[-1])
            if failure:
                return failure
        return None

    def _run(self, step: Step, deadline: Deadline, *, last: bool) -> Failure | None:
        run = StepRun(
            step=step,
            assignment=self.assignment.for_step(
                step,
                timeout_ms=min(step.timeout_ms, deadline.left_ms),
                max_cost_usd=self._left_usd(),
                max_tokens=self._left_tokens(),
            ),
            folder=self.folder,
            deadline=deadline,
            earlier={result.name: result.output for result in self._results},
        )
        result = run.result(self.choose)
        if not last:
            result = self._checked(step, result)
        self._results.append(result)
        if result.failure is None and self._used_tokens > (self.assignment.max_tokens or inf):
            return self._out_of_tokens()
        if result.failure is None:
            write_output(result.output, self.folder, step.output_file, is_result=last)
        return result.failure

    def _checked(self, step: Step, result: StepResult) -> StepResult:
        if result.failure is not None:
            return result
        try:
            self._checks.check(step, result.output)
        except AgentFailed as failed:
            return replace(result, failure=Failure.of(failed, step=step.name))
        return result

    def _so_far(self, began: float, failure: Failure | None = None) -> TaskResult:
        return TaskResult(
            duration_ms=elapsed_ms(began), steps=tuple(self._results), failure=failure
        )

    @property
    def _used_tokens(self) -> int:
        return sum(result.effort.tokens for result in self._results)

    def _left_tokens(self) -> int | None:
        most = self.assignment.max_tokens
        return None if most is None else most - self._used_tokens

    def _out_of_tokens(self) -> Failure:
        most, used = self.assignment.max_tokens or 0, self._used_tokens
        message = f"maxTokens: the task may use {most:,} tokens, and its steps took {used:,}"
        return Failure.of(AgentFailed(FailureCategory.VALIDATION, message))

    def _left_usd(self) -> float | None:
        most = self.assignment.max_cost_usd
        return None if most is None else most - self._spent_usd

    @property
    def _spent_usd(self) -> float:
        return sum(result.effort.cost_usd for result in self._results)

    def _overspent(self) -> Failure | None:
        tokens, left = self._left_tokens(), self._left_usd()
        if tokens is not None and tokens <= 0:
            return self._out_of_tokens()
        if left is None or left > 0:
            return None
        most, spent = self.assignment.max_cost_usd, self._spent_usd
        message = f"the task may spend {most:g} USD, and its steps so far took {spent:g}"
        return Failure.of(AgentFailed(FailureCategory.VALIDATION, message))
