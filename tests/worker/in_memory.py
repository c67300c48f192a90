"""`python -m switchyard_worker` with its ports in memory: run as a process of its own, it gets
real signals.

Usage: in_memory.py FOLDER DELAY_MS TASKS. When it ends by itself it writes FOLDER/report.json.
"""

import json
import os
import sys
from pathlib import Path

from switchyard.bootstrap import WorkerPorts
from switchyard.settings import WorkerSettings
from switchyard_worker.__main__ import main as main_of_worker
from tests.worker.harness import WorkerHarness
from tests.worker.recorded_presence import RecordedPresence


def main(folder: Path, delay_ms: int, tasks: int) -> int:
    harness = WorkerHarness(folder)
    harness.host_environment = dict(os.environ)
    harness.memory.presence = presence = RecordedPresence()
    for number in range(tasks):
        harness.add_task(f"t{number}", given={"offline": {"delayMs": delay_ms}})

    def ports(_settings: WorkerSettings) -> WorkerPorts:
        return harness.ports()

    code = main_of_worker(connect=ports)
    states = {task.ref.task_id: task.state for task in harness.memory.state.tasks.values()}
    report = {
        "states": states,
        "told": harness.emitted,
        "waiting": harness.memory.queue.waiting,
        "words": [word if isinstance(word, str) else word.slots for word in presence.words],
        "backends": [word.backend for word in presence.words if not isinstance(word, str)],
    }
    (folder / "report.json").write_text(json.dumps(report))
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
