"""`python -m switchyard_worker.health`: exit 0 if the worker on this machine is healthy, else 1.

It is healthy if its pulse is recent and a file can be written and read back beside it.
"""

import os
import sys
from pathlib import Path

from switchyard.clock import system_clock
from switchyard_worker.parent.health.pulse import has_pulse, probe


def main(folder: Path, *, now_ms: int) -> int:
    if not has_pulse(folder, now_ms=now_ms):
        print("the worker has no pulse: it hangs, or takes no tasks", file=sys.stderr)  # noqa: T201
        return 1
    problem = probe(folder)
    if problem:
        print(f"the worker's machine is sick: {problem}", file=sys.stderr)  # noqa: T201
    return 1 if problem else 0


if __name__ == "__main__":
    output_folder = Path(os.environ.get("OUTPUT_FOLDER", ".output"))
    sys.exit(main(output_folder, now_ms=system_clock().now_ms()))
