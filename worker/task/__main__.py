"""`python -m worker.task FOLDER`: run the task that the folder describes; exit 0 or 1."""

import sys
import traceback
from pathlib import Path

from switchyard.domain.failures import category_of
from worker.agents.agent import Effort
from worker.agents.choice import agent_for
from worker.subreaper import become_subreaper
from worker.task.assignment import Assignment
from worker.task.report import write_outcome, write_report
from worker.task.step import StepResult, run_step


def main(folder: Path) -> int:
    become_subreaper()  # what the agent orphans stays below us, where the worker finds it
    try:
        step = _run(folder)
    except Exception as error:  # noqa: BLE001 - the process ends here; the outcome tells the type
        traceback.print_exc()
        step = _failed_by(error)
    write_outcome(step, folder)
    return 0 if step.completed else 1


def _run(folder: Path) -> StepResult:
    assignment = Assignment.read(folder)
    step = run_step(assignment, folder, choose=agent_for)
    write_report(assignment, step, folder)
    return step


def _failed_by(error: Exception) -> StepResult:
    return StepResult(
        duration_ms=0,
        effort=Effort(),
        error=f"{type(error).__name__}: {error}",
        category=category_of(error),
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
