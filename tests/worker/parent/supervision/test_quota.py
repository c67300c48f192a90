"""Real children that use too much of the disk, beside others that do not."""

from pathlib import Path

import pytest

from switchyard.domain.states import TaskState
from switchyard.domain.tasks.failures import FailureCategory
from tests.worker.harness import WorkerHarness
from tests.worker.misbehaving import let_children_run

MEGABYTES = 8
FILES = 300
CHILD = """
    import json, os, pathlib, sys, time
    folder = pathlib.Path(sys.argv[-1])
    end = time.monotonic() + 60
    def answer():
        (folder / "outcome.json").write_text(json.dumps({"status": "completed", "output": 1}))
    if "__neighbour" in str(folder):
        (folder / "artifacts" / "mine.txt").write_text("written before")
        time.sleep(2.5)
        (folder / "artifacts" / "mine.txt").write_text("written after")
        answer()
        sys.exit()
"""
BYTES = "the task used more than 8 MB of disk (CHILD_DISK_MB)"
ENTRIES = "the task made more than 300 files and folders (CHILD_MAX_FILES)"
GREEDY = {
    "one large file": (
        BYTES,
        """
    with open(folder / "artifacts" / "large", "wb") as file:
        while time.monotonic() < end:
            file.write(b"x" * 1_000_000); file.flush(); time.sleep(0.05)
        """,
    ),
    "files where nothing is uploaded from": (
        BYTES,
        """
    for number in range(100):
        pathlib.Path(os.environ["TMPDIR"], str(number)).write_bytes(b"x" * 500_000)
        pathlib.Path(os.environ["HOME"], str(number)).write_bytes(b"x" * 500_000)
    time.sleep(60)
        """,
    ),
    "a sparse file that is filled": (
        BYTES,
        """
    with open(folder / "tmp" / "sparse", "wb") as file:
        file.truncate(1 << 40)
        while time.monotonic() < end:
            file.write(b"x" * 1_000_000); file.seek(1 << 30, 1); file.flush(); time.sleep(0.05)
        """,
    ),
    "a file in a folder that is closed": (
        BYTES,
        """
    (folder / "artifacts" / "closed").mkdir()
    (folder / "artifacts" / "closed" / "file").write_bytes(b"x" * 20_000_000)
    (folder / "artifacts" / "closed").chmod(0)
    time.sleep(60)
        """,
    ),
    "many empty files": (
        ENTRIES,
        """
    for number in range(1_000): (folder / "artifacts" / str(number)).touch()
    time.sleep(60)
        """,
    ),
    "many folders": (
        ENTRIES,
        """
    for number in range(1_000): (folder / str(number)).mkdir()
    time.sleep(60)
        """,
    ),
    "many names of one file": (
        ENTRIES,
        """
    (folder / "artifacts" / "file").touch()
    for number in range(1_000): os.link(folder / "artifacts" / "file", folder / str(number))
    time.sleep(60)
        """,
    ),
    "a deep tree": (
        "the task nested folders more than 100 deep (no setting changes that)",
        """
    os.chdir(folder / "artifacts")
    for _ in range(150):
        os.mkdir("d"); os.chdir("d")
    time.sleep(60)
        """,
    ),
}
MODEST = {
    "a sparse file": """
    with open(folder / "tmp" / "sparse", "wb") as file: file.truncate(1 << 40)
    """,
    "three names of a file": """
    (folder / "artifacts" / "file").write_bytes(b"x" * 3_000_000)
    for name in "ab": os.link(folder / "artifacts" / "file", folder / "artifacts" / name)
    """,
    "files that are removed in time": """
    for _ in range(40):
        (folder / "tmp" / "file").write_bytes(b"x" * 1_000_000)
        (folder / "tmp" / "file").unlink()
    """,
}


@pytest.fixture
def bounded(harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    monkeypatch.setattr("switchyard_worker.parent.supervision.quota.SECONDS_BETWEEN_COUNTS", 0.1)
    harness.configure(
        child_disk_mb=MEGABYTES,
        child_max_files=FILES,
        max_concurrent_claude=2,
        delete_files_after_upload=True,
    )
    return harness


@pytest.mark.parametrize("how", GREEDY)
def test_a_task_that_uses_too_much_fails_alone_and_is_told_the_limit(
    bounded: WorkerHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    expected, program = GREEDY[how]
    let_children_run(CHILD + program, tmp_path, monkeypatch)
    bounded.add_task("greedy")
    bounded.add_task("neighbour")

    bounded.work(until=bounded.quiet, seconds=30)

    greedy = bounded.task("greedy")
    assert (greedy.state, greedy.attempt) == (TaskState.FAILED, 1)
    assert greedy.outcome
    assert greedy.outcome.error == expected
    assert greedy.outcome.error_category is FailureCategory.VALIDATION
    assert bounded.task("neighbour").state is TaskState.COMPLETED
    assert bounded.blob("artifacts/mine.txt", "neighbour") == "written after"
    assert not list(bounded.folder.iterdir())


@pytest.mark.parametrize("how", MODEST)
def test_a_task_that_takes_little_of_the_disk_goes_on(
    bounded: WorkerHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    let_children_run(
        CHILD + MODEST[how].rstrip() + "\n    time.sleep(0.5)\n    answer()\n",
        tmp_path,
        monkeypatch,
    )
    bounded.add_task("modest")

    bounded.work(until=bounded.quiet, seconds=30)

    assert bounded.task("modest").state is TaskState.COMPLETED
