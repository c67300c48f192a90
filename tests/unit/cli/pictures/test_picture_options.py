"""`--picture` of `submit --dry-run` and of `job`."""

import os
from pathlib import Path

import pytest

from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition
from switchyard.contracts.jobs import JobView, TaskSummary
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeApi, answer
from tests.unit.cli.pictures.test_pictures import BEGAN

JOB = "job-00000000-0000-4000-8000-000000000000"
FILE = """\
definitions: {scrape: {tag: reader, description: Read the shop.}}
tasks: [{taskId: scrape, name: scrape}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "job.yaml"
    file.write_text(FILE)
    return file


def test_a_plan_is_drawn_to_a_file_that_is_replaced(
    file: Path, tmp_path: Path, switchyard: Switchyard
) -> None:
    picture = tmp_path / "plan.svg"
    picture.write_text("before")

    result = switchyard("submit", file, "--dry-run", "--picture", picture)

    assert result.exit_code == 0
    assert picture.read_text().startswith("<svg ")
    assert "● scrape" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.yaml", "plan.svg"]


def test_a_plan_is_drawn_to_standard_output_alone(file: Path, switchyard: Switchyard) -> None:
    result = switchyard("submit", file, "--dry-run", "--picture", "-")

    assert result.stdout.startswith("<svg ")
    assert result.stdout.endswith("</svg>\n")


def test_a_picture_without_a_dry_run_is_refused(file: Path, switchyard: Switchyard) -> None:
    result = switchyard("submit", file, "--picture", "plan.svg")

    assert result.exit_code == 2
    assert "add --dry-run" in result.stderr


@pytest.mark.parametrize(
    ("target", "said"),
    [(".", "is a folder; name a file in it"), ("absent/plan.svg", "No such file or directory")],
)
def test_a_place_that_cannot_be_written_is_named(
    target: str, said: str, file: Path, tmp_path: Path, switchyard: Switchyard
) -> None:
    result = switchyard("submit", file, "--dry-run", "--picture", tmp_path / target)

    assert result.exit_code == 2
    assert f"--picture {tmp_path / target}" in result.stderr
    assert said in result.stderr


def test_a_file_is_left_as_it_was_if_the_disk_is_full(
    file: Path, tmp_path: Path, switchyard: Switchyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "plan.svg"
    picture.write_text("before")

    def refuse(self: Path, _target: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "replace", refuse)
    result = switchyard("submit", file, "--dry-run", "--picture", picture)

    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert picture.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.yaml", "plan.svg"]


def test_a_job_is_drawn(tmp_path: Path, switchyard: Switchyard, api: FakeApi) -> None:
    task = TaskSummary(
        task_id="read", name="reader", depends_on=("gone",), status="processing", attempt=1
    )
    view = JobView(
        job_id=JOB, name="shop", status="processing", total_tasks=1, progress={},
        created_at=BEGAN, tasks=(task,),
    )  # fmt: skip
    api.on(f"GET /jobs/{JOB}", answer(view))

    result = switchyard("job", JOB, "--picture", tmp_path / "job.svg")
    printed = switchyard("job", JOB, "--picture", "-")

    assert result.stderr == f"{JOB} is drawn in {tmp_path / 'job.svg'}.\n"
    assert printed.stdout == (tmp_path / "job.svg").read_text()
    assert "● processing" in printed.stdout


def test_the_picture_of_a_job_shows_what_its_definitions_are(
    switchyard: Switchyard, api: FakeApi
) -> None:
    done = {"depends_on": (), "status": "completed", "attempt": 1}
    tasks = (
        TaskSummary(task_id="a", name="sort", **done),
        TaskSummary(task_id="b", name="x", **done),
    )
    job = JobView(
        job_id=JOB, name="a", status="completed", total_tasks=2, progress={}, created_at=BEGAN,
        tasks=tasks,
    )  # fmt: skip
    api.on(f"GET /jobs/{JOB}", answer(job))
    code = RegisteredDefinition(name="sort", version=1, kind="code", command=("sort",))
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(code,))))

    drawn = switchyard("job", JOB, "--picture", "-").stdout

    assert "ƒ a" in drawn
    assert "○ b" in drawn
