"""Runs a code task: a function of the package that its definition names, or a program."""

import io
import json
import os
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.functions.calls import arguments_for, result_of, run
from switchyard.functions.errors import FunctionsError, NotFound, NotJson
from switchyard.functions.loading import function_named
from switchyard.functions.packages import Package
from switchyard.functions.progress import report_to
from switchyard_worker.agents.agent import AgentFailed, Effort
from switchyard_worker.agents.clock import elapsed_ms, monotonic
from switchyard_worker.boundary import (
    ATTEMPT_FILE,
    INPUT_FILE,
    MAX_STEP_CHARACTERS,
    Assignment,
    Code,
    mark,
)
from switchyard_worker.child.limits import limit_hit_by
from switchyard_worker.child.program_progress import PROGRESS_FILE, ProgressFile
from switchyard_worker.child.results import (
    Failure,
    StepResult,
    TaskResult,
    write_output,
    write_summary,
    write_trace,
)

ATTEMPT_VARIABLE: Final = "ATTEMPT_FILE"
"""The environment variable that names the file about the attempt."""
OUTPUT_FILE: Final = "artifacts/result.json"
"""The file to which a program may write its task's output."""
MAX_OUTPUT_BYTES: Final = 20 * 1024 * 1024
SECONDS_BETWEEN_REPORTS: Final = 1.0


@dataclass(slots=True)
class ProgressMarks:
    """Prints progress as markers, at most one a second: a function may report every line."""

    _last: float | None = None

    def report(self, line: str) -> None:
        now = monotonic()
        if self._last is not None and now - self._last < SECONDS_BETWEEN_REPORTS:
            return
        self._last = now
        shown = "".join(character for character in line if character.isprintable())
        mark("progress", step=shown[:MAX_STEP_CHARACTERS])


@dataclass(frozen=True, slots=True)
class CodeTask:
    assignment: Assignment
    code: Code
    folder: Path

    def run(self) -> TaskResult:
        began = monotonic()
        _print_lines_at_once()
        self._describe_attempt()
        name = self.code.name[:MAX_STEP_CHARACTERS]
        write_summary(self.assignment, TaskResult(), self.folder, running=name)
        mark("step_running", step=name)
        output, failure = None, None
        try:
            output = self._output()
            write_output(output, self.folder, RESULT_FILE.rpartition("/")[2], is_result=True)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the task's code raises
            if not isinstance(error, AgentFailed | FunctionsError):
                traceback.print_exc()
            failure = failure_of(error)
        step = StepResult(
            name=name,
            prompt="",
            duration_ms=elapsed_ms(began),
            effort=Effort(),
            output=output,
            failure=failure,
        )
        result = TaskResult(duration_ms=step.duration_ms, steps=(step,), failure=failure)
        write_summary(self.assignment, result, self.folder)
        write_trace(self.assignment, result, self.folder)
        return result

    def _describe_attempt(self) -> None:
        """Write what the code may want to know of its attempt beside its input."""
        path = self.folder / ATTEMPT_FILE
        about = {
            "attempt": self.assignment.attempt,
            "commitments": list(self.assignment.promised),
            "missing": [dict(one) for one in self.assignment.missing],
            "failedParents": [dict(one) for one in self.assignment.failed_parents],
        }
        path.write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
        os.environ[ATTEMPT_VARIABLE] = str(path)

    def _output(self) -> Any:
        return self._called() if self.code.function else self._run_program()

    def _called(self) -> Any:
        package = Package(self.code.package, Path(self.code.path))
        function = function_named(package, self.code.function)
        arguments = arguments_for(function, self.assignment.input)
        report_to(ProgressMarks().report)
        return result_of(function, run(function, arguments))

    def _run_program(self) -> Any:
        given = self.folder / INPUT_FILE
        given.write_text(json.dumps(self.assignment.input, ensure_ascii=False), encoding="utf-8")
        progress = self.folder / PROGRESS_FILE
        named = {"INPUT_FILE": str(given), "PROGRESS_FILE": str(progress)}
        code = self._exit_code({**os.environ, **named}, progress)
        if code != 0:
            raise AgentFailed(FailureCategory.CODE_FAILED, _how_it_ended(code))
        return _written_output(self.folder / OUTPUT_FILE)

    def _exit_code(self, environment: dict[str, str], progress: Path) -> int:
        try:
            program = subprocess.Popen(
                [*self.code.command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=_log(),
                env=environment,
            )
        except (FileNotFoundError, PermissionError) as problem:
            said = f"the program {self.code.command[0]!r} cannot be started: {problem.strerror}"
            raise AgentFailed(FailureCategory.NOT_FOUND, said) from problem
        reported = ProgressFile(progress, ProgressMarks().report)
        while True:
            try:
                return program.wait(SECONDS_BETWEEN_REPORTS)
            except subprocess.TimeoutExpired:
                reported.look()


def failure_of(error: BaseException) -> Failure:
    """Return the failure that an exception of a task's code means: what is its own may pass."""
    if isinstance(error, AgentFailed):
        return Failure.of(error)
    if isinstance(error, Exception) and limit_hit_by(error):
        return Failure.by(error)
    if isinstance(error, SystemExit):
        said = f"the function called sys.exit({error.code!r})"
        return Failure.of(AgentFailed(FailureCategory.CODE_FAILED, said))
    said = str(error) if isinstance(error, FunctionsError) else f"{type(error).__name__}: {error}"
    return Failure.of(AgentFailed(_category(error), said))


def _category(error: BaseException) -> FailureCategory:
    match error:
        case NotFound() | ModuleNotFoundError():
            return FailureCategory.NOT_FOUND
        case NotJson():
            return FailureCategory.PARSE
        case FunctionsError():
            return FailureCategory.VALIDATION
    return FailureCategory.CODE_FAILED


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"the program was ended by signal {-code}; its log says more"
    return f"the program ended with exit code {code}; its log says more"


def _written_output(path: Path) -> Any:
    """Return what a program wrote as its output. Raise `AgentFailed`."""
    if not path.is_file():
        return {"exitCode": 0}
    if path.stat().st_size > MAX_OUTPUT_BYTES:
        problem = f"{OUTPUT_FILE} is larger than {MAX_OUTPUT_BYTES // 1024**2} MB"
        raise AgentFailed(FailureCategory.VALIDATION, problem)
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise AgentFailed(FailureCategory.PARSE, f"{OUTPUT_FILE} is not JSON: {error}") from error


def _print_lines_at_once() -> None:
    """Let readers of the log see each line when it is printed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)


def _log() -> int:
    """Return where a program's output goes: by hand, standard output is for the result alone."""
    try:
        return sys.stdout.fileno()
    except io.UnsupportedOperation:
        return sys.stderr.fileno()
