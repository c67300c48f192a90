"""`switchyard submit --file NAME=PATH`."""

from pathlib import Path

import httpx
import pytest

from switchyard.contracts.jobs import FileLink, JobFileLink
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, a_job, a_task, a_task_view, answer
from tests.unit.cli.fakes.uploads import ACCEPTED, a_link

JOB = """
definitions:
  review: {description: Review it., tag: reviewer}
tasks:
  - taskId: review
    name: review
    files: [job/brief]
    artifacts: [report.md]
"""
REVIEW = {"description": "Review it.", "tag": "reviewer"}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "brief.pdf").write_bytes(b"the brief")
    return tmp_path


def test_a_file_is_uploaded_before_its_job_is_submitted(
    switchyard: Switchyard, api: FakeApi, files: Path
) -> None:
    api.on("PUT /task-definitions/review", answer({"name": "review", "version": 1} | REVIEW))
    api.on("POST /files", a_link(b"the brief"))
    api.on("PUT /x", httpx.Response(200))
    api.on("POST /jobs", answer(ACCEPTED | {"jobId": JOB_ID}, 201))

    done = switchyard("submit", "job.yaml", "--file", "brief=brief.pdf")

    assert done.exit_code == 0, done.stderr
    (submitted,) = api.sent("POST /jobs")
    assert list(submitted["files"]) == ["brief.pdf"]
    assert submitted["tasks"][0]["files"] == ["job/brief"]
    methods = [f"{request.method} {request.url.path}" for request in api.requests]
    assert methods.index("PUT /x") < methods.index("POST /api/jobs")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("brief", "write NAME=PATH"),
        ("=brief.pdf", "write NAME=PATH"),
        ("brief=nothing.pdf", "No such file"),
        ("brief=.", "is a folder"),
    ],
)
def test_a_file_that_cannot_be_sent_is_refused_first(
    switchyard: Switchyard, api: FakeApi, files: Path, given: str, said: str
) -> None:
    done = switchyard("submit", "job.yaml", "--file", given)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not api.requests


def test_a_name_that_is_given_twice_is_refused(switchyard: Switchyard, files: Path) -> None:
    done = switchyard("submit", "job.yaml", "--file", "brief=brief.pdf", "--file", "brief=job.yaml")
    assert done.exit_code == 2
    assert "--file brief is there twice" in done.stderr


def test_a_dry_run_finds_a_file_that_nobody_submits(
    switchyard: Switchyard, api: FakeApi, files: Path
) -> None:
    done = switchyard("submit", "job.yaml", "--dry-run", "--file", "breif=brief.pdf")
    assert done.exit_code == 2
    assert "job/brief names no file of the job; it has breif.pdf" in done.stderr
    assert "job.yaml:7" in done.stderr
    fine = switchyard("submit", "job.yaml", "--dry-run", "--file", "brief=brief.pdf")
    assert fine.exit_code == 0, fine.stderr
    assert api.sent("POST /files") == []


def test_a_dry_run_finds_artifacts_of_a_task_that_is_not_before(
    switchyard: Switchyard, files: Path
) -> None:
    (files / "job.yaml").write_text(JOB.replace("job/brief", "draft/*.md"))
    done = switchyard("submit", "job.yaml", "--dry-run")
    assert done.exit_code == 2
    assert "draft/*.md names 'draft', which does not exist" in done.stderr


def test_a_job_and_a_task_show_their_files(switchyard: Switchyard, api: FakeApi) -> None:
    link = FileLink(name="brief.pdf", size=9, content_type="x/y", url="https://x.example")
    file = JobFileLink(**link.model_dump(), sha256="0" * 64)
    task = a_task("review", "waiting")
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("pending", task, files=(file,))))
    view = a_task_view(task, input_files=("job/brief",), required_artifacts=("report.md",))
    api.on(f"GET /jobs/{JOB_ID}/tasks/review", answer(view))
    assert "Files: brief.pdf (9 B)" in switchyard("job", JOB_ID).stdout
    shown = switchyard("task", JOB_ID, "review").stdout
    assert "job/brief" in shown
    assert "report.md" in shown
