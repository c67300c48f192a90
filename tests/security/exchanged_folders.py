"""`python -m tests.security.exchanged_folders FOLDER`: a worker uploads while a sibling cheats.

The sibling keeps exchanging folders of artifacts with links to `/proc/self`, so that a name which
was an ordinary file a moment ago leads to the environment of the process that opens it. It prints
how many uploaded files hold the canary of that environment, and how many were uploaded at all.
"""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from switchyard.domain.tasks.task import Lease
from switchyard_worker.guard.redaction import Redaction
from switchyard_worker.parent.attempts.upload import Uploader
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import a_task
from tests.worker.harness import WorkerHarness

CANARY = "canary-of-the-workers-environment"
FOLDERS = 60
TRIES = 8
SIBLING = """
import ctypes, os, sys
libc, artifacts, pairs = ctypes.CDLL(None), sys.argv[1], int(sys.argv[2])
names = [(f"{artifacts}/x{n}".encode(), f"{artifacts}/../tmp/y{n}".encode()) for n in range(pairs)]
print("ready", flush=True)
while True:
    for one, other in names:
        libc.renameat2(-100, one, -100, other, 2)
"""


def prepared(folder: Path) -> TaskFolder:
    task_folder = TaskFolder.fresh(folder, Lease(a_task(fence=3), "me"))
    for number in range(FOLDERS):
        place = task_folder.path / "artifacts" / f"x{number}"
        place.mkdir()
        (place / "environ").write_text("an artifact")
        (task_folder.path / "tmp" / f"y{number}").symlink_to("/proc/self")
    return task_folder


def uploads(folder: Path, *, tries: int = TRIES) -> list[bytes]:
    """Upload while the sibling exchanges, and return all that was uploaded."""
    task_folder = prepared(folder)
    program = [sys.executable, "-c", SIBLING, str(task_folder.path / "artifacts"), str(FOLDERS)]
    found: list[bytes] = []
    with subprocess.Popen(program, stdout=subprocess.PIPE) as sibling:
        assert sibling.stdout is not None
        sibling.stdout.readline()
        try:
            for number in range(tries):
                harness = WorkerHarness(folder)
                uploader = Uploader(
                    runtime_of(harness.ports()), harness.memory.blobs, Redaction(None)
                )
                asyncio.run(uploader.upload(task_folder, prefix=f"{number}/", completed=False))
                found += harness.memory.blobs.blobs.values()
                time.sleep(0.05)
        finally:
            sibling.kill()
    return found


if __name__ == "__main__":
    everything = uploads(Path(sys.argv[1]))
    revealed = sum(CANARY.encode() in content for content in everything)
    sys.stdout.write(json.dumps({"uploaded": len(everything), "revealed": revealed}) + "\n")
