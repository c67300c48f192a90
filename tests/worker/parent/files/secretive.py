"""A worker, one task, and a child that lets nobody else read what it writes.

Usage: secretive.py FOLDER. When the task is settled it writes FOLDER/report.json.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

SECRETIVE = """
    import os, sys
    folder = sys.argv[-1]
    os.umask(0o077)
    for place in (f"{folder}/artifacts", os.environ["TMPDIR"], os.environ["HOME"]):
        os.mkdir(f"{place}/private")
        with open(f"{place}/private/notes.txt", "w") as notes:
            notes.write("read me")
    os.chmod(f"{folder}/tmp/private", 0)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "switchyard_worker.child", folder])
"""


def main(folder: Path) -> None:
    os.umask(0o022)  # the program that the child runs is made here
    harness = WorkerHarness(folder / "output")
    harness.host_environment = dict(os.environ)
    harness.configure(delete_files_after_upload=True)
    harness.add_task()
    with pytest.MonkeyPatch.context() as patch:
        let_children_run(SECRETIVE, folder, patch)
        harness.work(until=harness.quiet)
    report = {
        "state": harness.task().state,
        "notes": harness.blob("artifacts/private/notes.txt"),
        "left": [str(path) for path in harness.folder.rglob("*")],
    }
    (folder / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
