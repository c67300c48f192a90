"""`run --functions` and `local:` of a job file: what lies on this machine goes with the job."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from switchyard.contracts.changes import DecisionView, TaskDecided
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.files import UploadLink
from switchyard.contracts.jobs import JobAccepted
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    TRACE_ID,
    FakeApi,
    FakeCloud,
    a_job,
    a_task,
    a_task_view,
    answer,
    problem,
)

MODULE = '''
from switchyard.functions import task

@task
def split(text: str) -> list[str]:
    """Cut a text."""
'''
DONE = a_task("only", "completed")
HELD = a_task("gate", "held", kind="approval")
APPROVAL = "tasks: [{taskId: gate, kind: approval, question: Send it}]\n"


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / f"functions_{uuid4().hex}"
    folder.mkdir()
    (folder / "__init__.py").write_text(MODULE)
    yield folder
    sys.modules.pop(folder.name, None)


@pytest.fixture
def file(tmp_path: Path, package: Path) -> Path:
    file = tmp_path / "job.yaml"
    local = f"local:\n  functions: [{package.name}]\n  files: {{brief: brief.md}}\n"
    file.write_text(f"{local}tasks: [{{taskId: only, name: split, files: [job/brief]}}]\n")
    (tmp_path / "brief.md").write_text("A brief.")
    return file


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    accepted = JobAccepted(
        job_id=JOB_ID, total_tasks=1, root_tasks=("only",), created_at=CREATED, trace_id=TRACE_ID
    )
    registered = RegisteredDefinition(
        name="split", version=1, kind="code", function="a:split", code_hash="0" * 64
    )
    api.on("PUT /task-definitions/split", answer(registered))
    api.on("POST /files", answer(UploadLink(sha256="0" * 64, size=8, uploaded=True)))
    api.on("POST /jobs", answer(accepted, 201))
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", DONE)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/only", answer(a_task_view(DONE)))
    return api


def test_functions_of_the_option_are_served_and_registered_before_the_job(
    switchyard: Switchyard, api: FakeApi, cloud: FakeCloud, package: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain.yaml"
    plain.write_text("tasks: [{taskId: only, name: split}]\n")

    result = switchyard("run", plain, "--functions", package)

    assert result.exit_code == 0, result.stderr
    assert cloud.functions == [str(package)]
    sent = [request.url.path for request in api.requests]
    assert sent.index("/api/task-definitions/split") < sent.index("/api/jobs")


def test_a_job_file_names_what_lies_beside_it(
    switchyard: Switchyard, api: FakeApi, cloud: FakeCloud, file: Path, package: Path
) -> None:
    result = switchyard("run", file)

    assert result.exit_code == 0, result.stderr
    assert cloud.functions == [str(package)]
    (job,) = api.sent("POST /jobs")
    assert list(job["files"]) == ["brief.md"]
    assert "local" not in job


def test_a_submission_registers_the_functions_and_uploads_the_files(
    switchyard: Switchyard, api: FakeApi, file: Path
) -> None:
    result = switchyard("submit", file)

    assert result.exit_code == 0, result.stderr
    assert api.sent("PUT /task-definitions/split")[0]["function"].endswith(":split")
    assert list(api.sent("POST /jobs")[0]["files"]) == ["brief.md"]


def test_a_file_of_the_option_comes_before_the_one_beside_the_job(
    switchyard: Switchyard, api: FakeApi, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.md").write_text("Longer than it was.")

    switchyard("submit", file, "--file", f"brief={tmp_path / 'other.md'}")

    assert api.sent("POST /files")[0]["size"] == len("Longer than it was.")


def test_a_dry_run_knows_the_functions_beside_the_file(
    switchyard: Switchyard, api: FakeApi, file: Path
) -> None:
    result = switchyard("submit", file, "--dry-run")

    assert result.exit_code == 0, result.stderr
    assert not api.sent("POST /jobs")


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b"])
def test_a_job_file_names_nothing_outside_its_folder(
    path: str, switchyard: Switchyard, api: FakeApi, file: Path
) -> None:
    file.write_text(json.dumps({"local": {"files": {"x": path}}, "tasks": []}))

    result = switchyard("run", file)

    assert result.exit_code == 2
    assert f"'{path}' must be a path below the folder of this file" in result.stderr
    assert not api.requests


def test_a_link_leads_nowhere_else(
    switchyard: Switchyard, api: FakeApi, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "brief.md").unlink()
    (tmp_path / "brief.md").symlink_to("/etc/hostname")

    result = switchyard("run", file)

    assert "local.files.brief: brief.md leads out of the folder of this file" in result.stderr
    assert not api.requests


def test_a_package_that_is_not_there_is_named_with_its_line(
    switchyard: Switchyard, file: Path, tmp_path: Path
) -> None:
    file.write_text("local: {functions: [nothing]}\ntasks: [{taskId: only, name: split}]\n")

    result = switchyard("run", file)

    assert f"{file}:1: local.functions[0]: there is no {tmp_path / 'nothing'}" in result.stderr


@pytest.fixture
def gate(api: FakeApi, tmp_path: Path) -> Path:
    file = tmp_path / "gate.yaml"
    file.write_text(APPROVAL)
    done = a_task("gate", "completed", kind="approval")
    running, ended = a_job("processing", HELD), a_job("completed", done)
    api.on(f"GET /jobs/{JOB_ID}", answer(running), answer(running), answer(ended))
    api.on(f"GET /jobs/{JOB_ID}/tasks/gate", answer(a_task_view(done)))
    shown = DecisionView(
        job_id=JOB_ID, task_id="gate", kind="approval", status="held", run=1, basis="b" * 16
    )
    api.on(f"GET /jobs/{JOB_ID}/tasks/gate/decision", answer(shown))
    return file


@pytest.mark.parametrize(("word", "approved"), [("approve", True), ("reject", False)])
def test_an_approval_is_decided_once_as_the_command_says(
    word: str, approved: bool, switchyard: Switchyard, api: FakeApi, gate: Path
) -> None:
    ended = TaskDecided(job_id=JOB_ID, task_id="gate", request_id="r", status="completed")
    api.on(f"POST /jobs/{JOB_ID}/tasks/gate/decision", answer(ended))

    result = switchyard("run", gate, "--decide", f"gate={word}")

    assert result.exit_code == 0, result.stderr
    (sent,) = api.sent(f"POST /jobs/{JOB_ID}/tasks/gate/decision")
    assert (sent["approved"], sent["basis"]) == (approved, "b" * 16)
    assert "as --decide says" in result.stderr


def test_a_decision_that_comes_too_late_is_said_and_the_job_is_followed(
    switchyard: Switchyard, api: FakeApi, gate: Path
) -> None:
    api.on(f"POST /jobs/{JOB_ID}/tasks/gate/decision", problem(409, "It was decided already."))

    result = switchyard("run", gate, "--decide", "gate=approve")

    assert result.exit_code == 0, result.stderr
    assert "gate is not decided by --decide" in result.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("gate", "--decide gate: write TASK=approve or TASK=reject."),
        ("gate=yes", "--decide gate=yes: write TASK=approve or TASK=reject."),
        ("gat=approve", "the job has no approval 'gat'; did you mean 'gate'?"),
    ],
)
def test_a_decision_about_nothing_is_refused_before_anything_starts(
    given: str, said: str, switchyard: Switchyard, cloud: FakeCloud, gate: Path
) -> None:
    cloud.running = False
    result = switchyard("run", gate, "--decide", given)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert cloud.calls == []
