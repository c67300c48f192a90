"""`killed_worker.py FOLDER DEFINITION`: a worker with one task of that definition, to be killed."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from switchyard.bootstrap import WorkerPorts
from switchyard.settings import WorkerSettings
from switchyard_worker.__main__ import main as main_of_worker
from tests.worker.harness import WorkerHarness


def main(folder: Path, definition: dict[str, Any]) -> int:
    harness = WorkerHarness(folder)
    harness.host_environment = dict(os.environ)
    harness.add_task(given={"offline": {"delayMs": 300_000}}, definition=definition)

    def ports(_settings: WorkerSettings) -> WorkerPorts:
        return harness.ports()

    return main_of_worker(connect=ports)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(sys.argv[2])))
