"""The files that a task is given: found, placed in its folder, read-only and checked."""

import asyncio
import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.adapters.system import SystemClock, ThreadOffload, system_sleep
from switchyard.contracts.files import FileContent
from switchyard.domain.errors import Unavailable
from switchyard.domain.prompts.artifacts import upload_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, Outcome
from switchyard.testing.transport import MemoryBlobStore
from switchyard.usecases.jobs.job_files import store_job_files
from switchyard_worker.boundary import InputFile
from switchyard_worker.parent.attempts.inputs import InputFinder, NoSuchInput, place_inputs
from switchyard_worker.parent.coroutines import Runtime
from switchyard_worker.parent.files.folder import TaskFolder
from switchyard_worker.parent.files.inputs import InputsFolder
from tests.builders import JOB, TENANT, a_task
from tests.worker.harness import NoDelay, WorkerHarness

DRAFT = "task/logs/draft/3/"
SCRIPT = """
import json, os
found = {}
for top, folders, files in os.walk("inputs"):
    for name in [*folders, *files]:
        path = os.path.join(top, name)
        content = None if name in folders else open(path).read()
        found[path] = [oct(os.stat(path).st_mode & 0o777), content]
json.dump(found, open("artifacts/result.json", "w"))
"""


def job_files(harness: WorkerHarness, **contents: bytes) -> None:
    files = {}
    for name, content in contents.items():
        sha256 = hashlib.sha256(content).hexdigest()
        harness.memory.blobs.put(upload_key(TENANT, sha256), content, content_type="text/plain")
        files[name.replace("_", ".")] = FileContent(sha256=sha256, size=len(content))
    store_job_files(JOB, files, harness.memory.blobs)


def artifacts_of_draft(harness: WorkerHarness, **contents: bytes) -> None:
    """A task that completed, and what it left in the bucket."""
    outcome = Outcome(state=TaskState.COMPLETED, artifacts=DRAFT)
    task = a_task("draft", state=TaskState.COMPLETED, outcome=outcome)
    harness.memory.state.tasks[task.ref] = task
    for name, content in {"task-result.json": b"{}", **contents}.items():
        key = f"{DRAFT}artifacts/{name}"
        harness.memory.blobs.put(key, content, content_type="text/plain")


def add(harness: WorkerHarness, *files: str, **facts: Any) -> None:
    definition = {
        "kind": "code",
        "tag": None,
        "description": None,
        "command": ["python3", "-c", SCRIPT],
    }
    ref = harness.add_task(definition=definition, **facts)
    payload = replace(harness.memory.state.payloads[ref], files=files)
    harness.memory.state.payloads[ref] = payload


def finder(harness: WorkerHarness, **bounds: int) -> InputFinder:
    memory = harness.memory
    return InputFinder(leases=memory.leases, payloads=memory.payloads, blobs=memory.blobs, **bounds)


def error_of(harness: WorkerHarness) -> str:
    outcome = harness.task().outcome
    return (outcome.error if outcome else None) or harness.task().last_error or ""


def test_a_task_finds_its_files_in_a_folder_that_is_read_only(harness: WorkerHarness) -> None:
    job_files(harness, brief_txt=b"make it short", unused=b"x")
    artifacts_of_draft(harness, **{"a.md": b"# A", "deep/b.md": b"# B", "c.png": b"x"})
    add(harness, "job/brief", "draft/**/*.md")
    harness.configure(delete_files_after_upload=True)

    harness.work(harness.quiet)

    assert json.loads(harness.blob("artifacts/task-result.json")) == {
        "inputs/job": ["0o500", None],
        "inputs/job/brief.txt": ["0o400", "make it short"],
        "inputs/draft": ["0o500", None],
        "inputs/draft/a.md": ["0o400", "# A"],
        "inputs/draft/deep": ["0o500", None],
        "inputs/draft/deep/b.md": ["0o400", "# B"],
    }
    assert not any(harness.folder.rglob("inputs"))


def test_an_agent_is_told_which_files_it_has_and_which_it_has_to_write(
    harness: WorkerHarness,
) -> None:
    job_files(harness, brief_txt=b"make it short")
    ref = harness.add_task(max_attempts=1, definition={"tools": ["Read"]})
    stored = harness.memory.state.payloads
    stored[ref] = replace(stored[ref], files=("job/*",), artifacts=("report.md",))

    harness.work(harness.quiet)

    prompt = harness.blob("logs/task-step.prompt.md")
    assert '"inputs/job/brief.txt"' in prompt
    assert "`report.md`" in prompt
    assert error_of(harness).startswith("artifacts: nothing matches report.md")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("draft/*.pdf", "files: nothing matches draft/*.pdf; there are a.md, task-result.json"),
        ("job/brief", "the files of the job are gone: they have expired"),
        ("other/*", "files: 'other' did not complete, so it has no artifacts"),
    ],
)
def test_a_missing_file_fails_the_task_for_good(
    harness: WorkerHarness, reference: str, said: str
) -> None:
    artifacts_of_draft(harness, **{"a.md": b"x"})
    add(harness, reference)

    harness.work(harness.quiet)

    assert harness.task().state is TaskState.FAILED
    assert error_of(harness) == said


def test_a_damaged_file_is_a_trouble_that_costs_an_attempt(harness: WorkerHarness) -> None:
    job_files(harness, brief=b"as it was")
    (key,) = harness.memory.blobs.keys("task/uploads/")
    harness.memory.blobs.put(key, b"otherwise", content_type="text/plain")
    add(harness, "job/brief", max_attempts=2)

    harness.work(harness.quiet)

    assert harness.task().attempt == 2
    assert harness.task().state is TaskState.FAILED
    assert "does not have its checksum" in error_of(harness)
    outcome = harness.task().outcome
    assert outcome is not None
    assert outcome.error_category == "server-error"


def test_an_outage_hands_the_task_back_without_an_attempt(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_files(harness, brief=b"x")
    add(harness, "job/brief")

    def unavailable(_self: MemoryBlobStore, key: str) -> Iterator[bytes]:
        raise Unavailable(key)

    monkeypatch.setattr(MemoryBlobStore, "pieces", unavailable)
    harness.work(lambda: harness.task().not_before_ms > 0)

    assert (harness.task().state, harness.task().attempt) == (TaskState.QUEUED, 0)


@pytest.mark.parametrize("name", ["../../../escaped", "a/../b", "x\u202e"])
def test_a_name_that_leads_out_of_the_folder_is_refused(harness: WorkerHarness, name: str) -> None:
    artifacts_of_draft(harness, **{name: b"x"})
    with pytest.raises(NoSuchInput, match=r"cannot be given|nothing matches"):
        finder(harness).found_for(a_task("a"), ["draft/**"])


def test_files_are_bounded_in_number_and_size(harness: WorkerHarness) -> None:
    artifacts_of_draft(harness, **{f"{number}.md": b"12345" for number in range(201)})
    with pytest.raises(NoSuchInput, match="201 files; at most 200"):
        finder(harness).found_for(a_task("a"), ["draft/*"])
    with pytest.raises(NoSuchInput, match="15 bytes; at most 0 MB"):
        finder(harness, max_bytes=14).found_for(
            a_task("a"), ["draft/1.md", "draft/2.md", "draft/3.md", "draft/3.md"]
        )


def test_a_name_that_is_a_file_and_a_folder_is_refused(harness: WorkerHarness) -> None:
    artifacts_of_draft(harness, **{"a": b"x", "a/b": b"x"})
    with pytest.raises(NoSuchInput, match="draft/a would have to be a file and a folder"):
        finder(harness).found_for(a_task("a"), ["draft/**"])


def test_artifacts_of_another_job_are_out_of_reach(harness: WorkerHarness) -> None:
    """A task of the same name in another job has completed; this job has none."""
    artifacts_of_draft(harness, **{"a.md": b"x"})
    elsewhere = replace(a_task("a"), ref=replace(JOB, tenant="other").task("a"))
    with pytest.raises(NoSuchInput, match="did not complete"):
        finder(harness).found_for(elsewhere, ["draft/*.md"])


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = TaskFolder.fresh(tmp_path / "output", Lease(a_task("a"), "me"))
    (tmp_path / "target").mkdir()
    (folder.path / "inputs").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        InputsFolder(folder).make()
    with pytest.raises(OSError, match="inputs"), InputsFolder(folder).new_file("job/x"):
        pass
    assert not any((tmp_path / "target").iterdir())
    folder.close()


class SlowBlobs(MemoryBlobStore):
    """Waits in the middle of a content until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = threading.Event()
        self.go_on = threading.Event()
        self.given = 0

    def pieces(self, key: str) -> Iterator[bytes]:
        for number in range(10):
            self.given = number
            yield b"x"
            self.reading.set()
            self.go_on.wait(5)


def test_a_cancelled_download_ends_before_its_folder_is_removed(tmp_path: Path) -> None:
    asyncio.run(_cancelled_while_it_downloads(tmp_path))


async def _cancelled_while_it_downloads(tmp_path: Path) -> None:
    folder = TaskFolder.fresh(tmp_path / "output", Lease(a_task("a"), "me"))
    blobs = SlowBlobs()
    runtime = Runtime(
        clock=SystemClock(),
        sleep=system_sleep,
        offload=ThreadOffload(threads=2),
        randomness=NoDelay(),
    )
    files = [InputFile(name="job/a", size=10, key="a"), InputFile(name="job/b", size=10, key="b")]
    placing = asyncio.ensure_future(place_inputs(runtime, blobs, folder, files))
    await asyncio.to_thread(blobs.reading.wait, 5)
    placing.cancel()
    await asyncio.sleep(0.05)
    assert not placing.done()
    blobs.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await placing
    assert blobs.given < 9
    assert not (folder.path / "inputs/job/b").exists()
    folder.close()
