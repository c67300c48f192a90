"""`python -m switchyard_worker.child FOLDER`: run the task that the folder describes; exit 0 or
1."""

import os
import sys
import traceback
from pathlib import Path

from switchyard_worker.agents.agent import agent_for
from switchyard_worker.boundary import TASK_FILE, Assignment, become_subreaper
from switchyard_worker.child.limits import end_with_worker, limit_resources
from switchyard_worker.child.results import Failure, TaskResult, write_outcome
from switchyard_worker.child.workflow import Workflow


def main(folder: Path) -> int:
    end_with_worker(os.environ)
    become_subreaper()  # what the agent orphans stays below us, where the worker finds it
    try:
        result = _run(folder)
    except Exception as error:  # noqa: BLE001 - the process ends here; the outcome has the type
        traceback.print_exc()
        result = TaskResult(failure=Failure.by(error))
    write_outcome(result, folder)
    return 0 if result.completed else 1


def _run(folder: Path) -> TaskResult:
    assignment = Assignment.parse((folder / TASK_FILE).read_text(encoding="utf-8"))
    limit_resources(
        memory_mb=assignment.memory_mb,
        file_mb=assignment.file_mb,
        processes=assignment.max_processes,
    )
    if assignment.code is None:
        return Workflow(assignment, folder, agent_for).run()
    from switchyard_worker.child.code import CodeTask  # noqa: PLC0415 - agents need none of it

    return CodeTask(assignment, assignment.code, folder).run()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
