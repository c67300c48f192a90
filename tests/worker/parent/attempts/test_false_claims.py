"""Children that claim success falsely: none of their tasks completes."""

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from switchyard.adapters.webhooks import HttpWebProbe
from switchyard.domain.states import TaskState
from tests.worker.harness import WorkerHarness
from tests.worker.parent.attempts.false_claims import FALSE_CLAIMS, RIGHT_HASH, WRITE, FalseClaim

CHILD = """
import json, os, sys
folder = sys.argv[-1]
task = json.load(open(f"{folder}/task.json"))
os.chdir(folder)
if isinstance(task["input"], dict) and "script" in task["input"]:
    exec(task["input"]["script"])
    claim = {"status": "completed", "output": task["input"].get("output")}
    json.dump(claim, open("outcome.json", "w"))
else:
    os.execv(task_python := sys.argv[1], [task_python, *sys.argv[2:]])
"""
HONEST = FalseClaim(
    script=WRITE,
    output={"n": 4},
    commitments=[
        {"kind": "file", "path": "report.md", "sha256": RIGHT_HASH, "name": "report"},
        {"kind": "output", "condition": "${output.n} > 3"},
        {"kind": "command", "command": ["grep", "-q", "done", "artifacts/report.md"]},
        {"kind": "http", "url": "{}/200"},
        {"kind": "rubric", "rubric": "The report says that it is done."},
    ],
    said="",
    grader={"output": {"met": True, "reason": "it does"}, "usage": {"costUsd": 0.25}},
)


class Answers(BaseHTTPRequestHandler):
    """Answers with the status that the path names."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/hang":
            self.server.over.wait(10)  # type: ignore[attr-defined]
            return
        self.send_response(int(self.path[1:]))
        self.send_header("Location", "/200")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Print nothing."""


class Web:
    """Reaches the server of the test, and else only what a stage's worker may reach."""

    def __init__(self, output_folder: Path) -> None:
        self._output_folder = output_folder

    def status(self, url: str, *, method: str, seconds: float) -> int:
        if url == "http://change/":
            for report in self._output_folder.glob("*file-changed*/*/artifacts/report.md"):
                report.write_text("gone")
            return 200
        local = url.startswith("http://127.0.0.1")
        return HttpWebProbe(nearby_allowed=local).status(url, method=method, seconds=seconds)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.over = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.over.set()  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def harness(server: str, tmp_path_factory: pytest.TempPathFactory) -> WorkerHarness:
    """A worker that has run all of them once, each in a child that does as its script says."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "child.py").write_text(CHILD)
    interpreter = folder / "python"
    interpreter.write_text(
        "#!/bin/sh\n"
        f'case "$3" in switchyard_worker.child) '
        f'exec "{sys.executable}" -I -S "{folder}/child.py" "{sys.executable}" "$@";; esac\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    interpreter.chmod(0o755)
    harness = WorkerHarness(folder / "output")
    harness.configure(max_concurrent_claude=4)
    harness.web = Web(folder / "output")  # type: ignore[assignment]
    for name, claim in {**FALSE_CLAIMS, "honest": HONEST}.items():
        add(harness, name, claim, server)
    with pytest.MonkeyPatch.context() as patch:
        supervisor = "switchyard_worker.parent.supervision.supervisor.sys"
        patch.setattr(supervisor, SimpleNamespace(executable=str(interpreter)))
        harness.work(harness.quiet, seconds=120)
    return harness


def add(harness: WorkerHarness, name: str, claim: FalseClaim, server: str) -> None:
    text = json.dumps(claim.commitments).replace("{}/", f"{server}/")
    given = {
        "script": claim.script,
        "output": claim.output,
        "id": "mine",
        "offline": {"grader": dict(claim.grader)} if claim.grader else {},
    }
    ref = harness.add_task(name, given=given, max_attempts=1)
    stored = harness.memory.state.payloads
    stored[ref] = replace(stored[ref], commitments=tuple(json.loads(text)))


def test_there_are_enough_of_them() -> None:
    assert len(FALSE_CLAIMS) >= 40


@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_a_false_claim_does_not_complete_its_task(harness: WorkerHarness, name: str) -> None:
    task, claim = harness.task(name), FALSE_CLAIMS[name]
    assert task.state is TaskState.FAILED
    assert task.outcome
    assert task.outcome.error_category == claim.category
    assert claim.said in (task.outcome.error or "")


@pytest.mark.parametrize(
    "name", [name for name, claim in FALSE_CLAIMS.items() if claim.category != "server-error"]
)
def test_the_evidence_is_stored_by_the_worker(harness: WorkerHarness, name: str) -> None:
    evidence = json.loads(harness.blob("logs/commitments.json", name))
    assert evidence["verified"] is False
    checked = harness.task(name).commitments
    assert checked
    assert [one["met"] for one in evidence["commitments"]] == [one.met for one in checked.results]


def test_none_of_them_is_counted_as_completed(harness: WorkerHarness) -> None:
    completed = [
        one for one in harness.memory.state.tasks.values() if one.state.value == "COMPLETED"
    ]
    assert [task.ref.task_id for task in completed] == ["honest"]


def test_an_honest_task_completes_and_pays_for_its_grader(harness: WorkerHarness) -> None:
    task = harness.task("honest")
    assert task.commitments
    assert task.commitments.verified
    assert task.commitments.results[0].name == "report"
    assert task.outcome
    assert task.outcome.usage.cost_usd == 0.25
    evidence = json.loads(harness.blob("logs/commitments.json", "honest"))
    assert evidence["commitments"][0]["sha256"] == {"artifacts/report.md": RIGHT_HASH}


def test_nothing_of_them_runs_any_more(harness: WorkerHarness) -> None:
    folder = str(harness.folder)
    left = [one for one in Path("/proc").glob("[0-9]*") if _folder_of(one).startswith(folder)]
    assert left == []


def _folder_of(process: Path) -> str:
    try:
        return str((process / "cwd").readlink())
    except OSError:
        return ""
