"""A worker with a Claude key, one task, and a child that reads all it can to find that key.

Usage: key_hunter.py FOLDER. When the task is settled it writes FOLDER/report.json.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

KEY = "sk-ant-real-canary-5e4d3c2b1a"
HUNTER = """
    import glob, json, os, sys
    folder, loot, read = sys.argv[-1], [], []
    def take(path):
        try:
            with open(path, "rb") as file:
                loot.append(file.read(1_000_000).decode("latin-1"))
            read.append(path)
        except OSError:
            pass
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    for pid in others:
        for name in ("environ", "cmdline", "maps", "mem", "status"):
            take(f"/proc/{pid}/{name}")
        for path in glob.glob(f"/proc/{pid}/fd/*"):
            if not os.path.exists(path) or os.path.isfile(path):
                take(path)
    loot.append(json.dumps(dict(os.environ)))
    with open("LOOT", "w") as file:
        json.dump({"loot": loot, "read": read}, file)
    os.chmod("LOOT", 0o644)
    with open(f"{folder}/outcome.json", "w") as file:
        json.dump({"status": "completed", "output": {}}, file)
"""


def main(folder: Path) -> None:
    output = folder / "output"
    output.mkdir()
    output.chmod(0o711)  # as the worker makes its own: each task's user passes, and reads nothing
    harness = WorkerHarness(output)
    harness.host_environment = dict(os.environ) | {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    }
    harness.add_task(definition={"backend": "claude-agent-sdk"})
    found = folder / "found" / "loot.json"  # what is uploaded would be redacted
    found.parent.mkdir()
    found.parent.chmod(0o777)
    with pytest.MonkeyPatch.context() as patch:
        let_children_run(HUNTER.replace("LOOT", str(found)), folder, patch)
        for program in folder.glob("*.py"):
            program.chmod(0o644)
        # The proxy finds its packages as this program does: in a container they are installed.
        patch.setattr(
            "switchyard_worker.parent.claude.access.package_paths", lambda: os.environ["PYTHONPATH"]
        )
        harness.work(until=harness.quiet, seconds=40)
    loot = json.loads(found.read_text())
    report = {
        "state": harness.task().state,
        "token": "sk-ant-task-" in str(loot["loot"]),
        "key": KEY in str(loot["loot"]),
        "environments": [path for path in loot["read"] if path.endswith("/environ")],
        "commands": len([path for path in loot["read"] if path.endswith("/cmdline")]),
    }
    (folder / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
