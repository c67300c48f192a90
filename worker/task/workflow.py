"""A task as its steps, one after the other; the first that fails ends it."""

import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path

from switchyard.domain.tasks.failures import FailureCategory
from worker.agents.agent import AgentFailed
from worker.task.assignment import Assignment, Step
from worker.task.checking import StepChecks
from worker.task.clock import Deadline, elapsed_ms, monotonic
from worker.task.report import write_output, write_summary, write_trace
from worker.task.results import Failure, StepResult, TaskResult
from worker.task.step import Choose, StepRun


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
            ),
            folder=self.folder,
            deadline=deadline,
            earlier={result.name: result.output for result in self._results},
        )
        result = run.result(self.choose)
        if not last:
            result = self._checked(step, result)
        self._results.append(result)
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

    def _left_usd(self) -> float | None:
        most = self.assignment.max_cost_usd
        return None if most is None else most - self._spent_usd

    @property
    def _spent_usd(self) -> float:
        return sum(result.effort.cost_usd for result in self._results)

    def _overspent(self) -> Failure | None:
        left = self._left_usd()
        if left is None or left > 0:
            return None
        most, spent = self.assignment.max_cost_usd, self._spent_usd
        told = f"the task may spend {most:g} USD, and its steps so far took {spent:g}"
        return Failure.of(AgentFailed(FailureCategory.VALIDATION, told))
