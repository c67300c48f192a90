"""Scripts the answers of agents in a test: values, functions of the input, and failures.

A script belongs to a task definition or to one task; `definition/step` names one step.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchyard.domain.prompts.artifacts import ARTIFACTS
from switchyard.domain.tasks.failures import FailureCategory, category_of
from switchyard.testing.clock import ManualClock
from switchyard.testing.job_runs.errors import JobTestError, unused_name
from switchyard.testing.job_runs.files import Leaves
from switchyard_worker.agents.agent import AgentFailed, Answer, Effort
from switchyard_worker.boundary import Assignment


@dataclass(frozen=True, slots=True)
class InTurn:
    """Answers for the first attempt, the second and so on."""

    answers: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Takes:
    """An answer that takes a while: longer than the task's timeout, and the task times out."""

    seconds: float
    answer: Any


class ScriptedFailure(Exception):
    """The failure that `fails` returns: a script may be one, return one or raise one."""

    def __init__(self, message: str, category: FailureCategory) -> None:
        super().__init__(message)
        self.category = category


class OutOfTime(BaseException):
    """The answer takes longer than the attempt may; no handler of a step may catch it."""


class FailsTest(BaseException):
    """Carries an error of the test itself past the handlers that would make it the task's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def in_turn(*answers: Any) -> InTurn:
    """Answer each attempt of a task with the next of these; any of them may be a failure."""
    return InTurn(answers)


def takes(seconds: float, answer: Any = None) -> Takes:
    """Let the clock of the test advance by so many seconds before the answer."""
    return Takes(seconds, answer)


def fails(message: str, category: str = "server-error") -> ScriptedFailure:
    """Fail an attempt. The category decides whether the task is tried again, as in production."""
    try:
        return ScriptedFailure(message, FailureCategory(category))
    except ValueError:
        known = ", ".join(FailureCategory)
        raise JobTestError(f"fails: category {category!r} is none of {known}") from None


class ScriptedAgent:
    """Stands for every agent of a job, as the scripts of a test say."""

    def __init__(self, scripts: Mapping[str, Any], clock: ManualClock) -> None:
        self._scripts = scripts
        self._clock = clock
        self._asked: Counter[tuple[str, str]] = Counter()
        self._definition = ""
        self._last_step = ""
        self._left_ms = 0
        self._folder = Path()

    def begin(self, definition: str, assignment: Assignment, folder: Path) -> None:
        """Prepare for the steps of one attempt; the output of the last one is the task's."""
        self._folder = folder
        self._definition = definition
        self._last_step = assignment.in_order()[-1].name
        self._left_ms = assignment.timeout_ms

    def require_used(self, tasks: Mapping[str, str], steps: Iterable[str]) -> None:
        """Raise `JobTestError` for a script that no task of the job could ask."""
        known = {*tasks, *filter(None, tasks.values()), *steps}
        for name in self._scripts:
            if name not in known:
                raise unused_name("agents", name, known)

    def run(self, _prompt: str, assignment: Assignment) -> Answer:
        """Answer one step. Raise `AgentFailed`, `OutOfTime` or `FailsTest`."""
        try:
            return Answer(output=self._output(assignment), effort=_PAID)
        except ScriptedFailure as failure:
            raise AgentFailed(failure.category, str(failure), effort=_PAID) from failure
        except (AssertionError, JobTestError) as problem:
            raise FailsTest(problem) from problem
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise AgentFailed(category_of(error), said, effort=_PAID) from error

    def _output(self, assignment: Assignment) -> Any:
        name = self._script_name(assignment)
        script = self._scripts[name]
        if isinstance(script, InTurn):
            script = self._next_of(script, name, assignment)
        if isinstance(script, Takes):
            self._pass(round(script.seconds * 1000))
            script = script.answer
        answer = _called(script, assignment) if callable(script) else script
        if isinstance(answer, Exception):
            raise answer
        return self._left_behind(answer) if isinstance(answer, Leaves) else answer

    def _left_behind(self, answer: Leaves) -> Any:
        """Write the files of an answer to the folder of the attempt; return the answer itself."""
        for name, content in answer.files.items():
            file = self._folder / ARTIFACTS / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return answer.answer

    def _script_name(self, assignment: Assignment) -> str:
        task_id = assignment.request_id.partition("__")[2]
        step, last = assignment.step_name, self._last_step
        names = [f"{task_id}/{step}", f"{self._definition}/{step}"]
        names += [task_id, self._definition] if step == last else []
        found = next((name for name in names if name in self._scripts), None)
        if found is None:
            wanted = self._definition if step == last else names[1]
            raise JobTestError(
                f"no agent {wanted!r} is scripted, which the task {task_id!r} asks: add it, as in "
                f"agents={{{wanted!r}: …}}"
            )
        return found

    def _next_of(self, script: InTurn, name: str, assignment: Assignment) -> Any:
        key = (name, assignment.request_id)
        number = self._asked[key]
        self._asked[key] += 1
        if number >= len(script.answers):
            raise JobTestError(
                f"the agent {name!r} has {len(script.answers)} answers in turn, and is asked once "
                f"more: by attempt {assignment.attempt} of {assignment.request_id}"
            )
        return script.answers[number]

    def _pass(self, milliseconds: int) -> None:
        left_ms, self._left_ms = self._left_ms, self._left_ms - milliseconds
        self._clock.advance(min(milliseconds, left_ms) / 1000)
        if milliseconds > left_ms:
            raise OutOfTime


_PAID = Effort(turns=1, input_tokens=1)
"""The effort of a scripted failure: a paid query is not repeated within its attempt."""


def _called(script: Callable[..., Any], assignment: Assignment) -> Any:
    """Call a script with the input, and with the outputs of the task's parents if it takes two."""
    given = (assignment.input, dict(assignment.context))
    try:
        inspect.signature(script).bind(*given)
    except TypeError:
        return script(given[0])
    return script(*given)
