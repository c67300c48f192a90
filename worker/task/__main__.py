"""`python -m worker.task FOLDER`: run the task that the folder describes; exit 0 or 1.

By hand: `python -m worker.task REQUEST_ID [INPUT]`, see `worker/task/by_hand.py`.
"""

import os
import sys
import traceback
from pathlib import Path

from worker.agents.choice import agent_for
from worker.subreaper import become_subreaper
from worker.task.assignment import Assignment
from worker.task.limits import limit_resources
from worker.task.parent_death import end_with_worker
from worker.task.report import write_outcome
from worker.task.results import Failure, TaskResult
from worker.task.workflow import Workflow


def main(folder: Path) -> int:
    end_with_worker(os.environ)
    become_subreaper()  # what the agent orphans stays below us, where the worker finds it
    try:
        result = _run(folder)
    except Exception as error:  # noqa: BLE001 - the process ends here; the outcome tells the type
        traceback.print_exc()
        result = TaskResult(failure=Failure.by(error))
    write_outcome(result, folder)
    return 0 if result.completed else 1


def _run(folder: Path) -> TaskResult:
    assignment = Assignment.read(folder)
    limit_resources(
        memory_mb=assignment.memory_mb,
        file_mb=assignment.file_mb,
        processes=assignment.max_processes,
    )
    return Workflow(assignment, folder, agent_for).run()


def _folder(argv: list[str]) -> Path:
    if len(argv) == 2 and Path(argv[1]).is_absolute():
        return Path(argv[1])
    from worker.task.by_hand import prepare  # noqa: PLC0415 - the worker never needs it

    return prepare(argv[1:])


if __name__ == "__main__":
    sys.exit(main(_folder(sys.argv)))
