"""A file is submitted, read by a task, and what that leaves is given to the next one."""

from pathlib import Path
from typing import Any

from switchyard.client import Client, Job
from tests.e2e.conftest import RunningCloud

DRAFT = """
import os, pathlib
brief = pathlib.Path("inputs/job/brief.txt")
modes = [oct(path.stat().st_mode & 0o777) for path in (brief, brief.parent)]
pathlib.Path("artifacts/draft.md").write_text(f"{brief.stat().st_size} {' '.join(modes)}")
pathlib.Path("artifacts/notes.txt").write_text("not asked for")
"""
REVIEW = """
import json, pathlib
found = {str(path): path.read_text() for path in pathlib.Path("inputs").rglob("*.*")}
json.dump(found, open("artifacts/result.json", "w"))
"""
FORGET = "pass"
BYTES = 3_000_000


def test_files_go_from_a_submission_through_the_tasks(cloud: RunningCloud, tmp_path: Path) -> None:
    with cloud.http as http:
        for name, script in {"draft": DRAFT, "review": REVIEW, "forget": FORGET}.items():
            definition: dict[str, Any] = {"kind": "code", "command": ["python3", "-c", script]}
            retry = {"retry": {"maxAttempts": 1}} if name == "forget" else {}
            put = http.put(f"/task-definitions/files-{name}", json=definition | retry)
            assert put.is_success, put.text
    brief = tmp_path / "brief.txt"
    brief.write_bytes(b"x" * BYTES)
    job = Job("files")
    draft = job.task(
        "draft", name="files-draft", files=["job/brief"], artifacts=["draft.md", "*.txt"]
    )
    job.task("review", name="files-review", after=[draft], files=["draft/*.md"])
    job.task("forget", name="files-forget", after=[draft], artifacts=["*.pdf"])

    with Client(cloud.endpoint.api_url, cloud.endpoint.api_key) as client:
        job_id = client.submit(job, files={"brief": brief}).job_id
        client.submit(job, files={"brief": brief}, key="again")  # its content is there
        view = client.wait(job_id, timeout_seconds=60)
        assert [(file.name, file.size) for file in view.files] == [("brief.txt", BYTES)]
        assert client.save(view.files[0], tmp_path / "back").read_bytes() == brief.read_bytes()
        assert client.task(job_id, "review").output == {
            "inputs/draft/draft.md": f"{BYTES} 0o400 0o500"
        }
        forgotten = client.task(job_id, "forget")
        assert (forgotten.status, forgotten.attempt) == ("failed", 1)
        assert forgotten.error == (
            "artifacts: nothing matches *.pdf: the task left no files in its folder artifacts"
        )
        assert view.status == "failed"
