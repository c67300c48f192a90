"""`python -m switchyard_worker.child.command MEMORY_MB FILE_MB PROCESSES -- PROGRAM …`: run the
program of a commitment within the limits of a task, in place of this process."""

import os
import sys
from collections.abc import Sequence
from typing import Final

from switchyard_worker.boundary import become_subreaper
from switchyard_worker.child.limits import end_with_worker, limit_resources

CANNOT_BE_STARTED: Final = 127  # as a shell says it


def main(arguments: Sequence[str]) -> int:
    """Return only if the program cannot be started."""
    memory_mb, file_mb, processes, _, *command = arguments
    end_with_worker(os.environ)
    become_subreaper()  # what the program orphans stays below it, where the worker finds it
    limit_resources(
        memory_mb=int(memory_mb) or None, file_mb=int(file_mb), processes=int(processes) or None
    )
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as problem:
        sys.stderr.write(f"{command[0]} cannot be started: {problem.strerror}\n")
    return CANNOT_BE_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
