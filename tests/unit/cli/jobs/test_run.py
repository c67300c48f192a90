"""`run`: the local cloud is up while the job runs, and afterwards as it was before."""

import signal
from pathlib import Path

import pytest

from switchyard.contracts.jobs import JobAccepted
from switchyard_local.say import Say
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    TRACE_ID,
    Answer,
    FakeApi,
    FakeCloud,
    a_job,
    a_task,
    a_task_view,
    answer,
    problem,
)

DONE = a_task("only", "completed")
ACCEPTED = JobAccepted(
    job_id=JOB_ID, total_tasks=1, root_tasks=("only",), created_at=CREATED, trace_id=TRACE_ID
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "job.yaml"
    file.write_text("tasks: [{taskId: only, name: scrape}]\n")
    return file


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on("POST /jobs", answer(ACCEPTED, 201))
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", DONE)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/only", answer(a_task_view(DONE, output={"answer": 42})))
    return api


@pytest.fixture
def cloud() -> FakeCloud:
    return FakeCloud(running=False)


def test_it_stops_the_cloud_it_started(
    file: Path, switchyard: Switchyard, cloud: FakeCloud
) -> None:
    result = switchyard("run", file)

    assert result.exit_code == 0, result.stderr
    assert '"answer": 42' in result.stdout
    assert cloud.calls == ["up", "down"]


def test_further_commands_are_named_with_their_path_where_make_gives_one(
    file: Path, switchyard: Switchyard, environment: dict[str, str]
) -> None:
    environment["SWITCHYARD_COMMAND"] = ".venv/bin/switchyard"
    said = switchyard("run", file).stderr
    assert "`.venv/bin/switchyard up`, then `.venv/bin/switchyard task " in said


def test_it_leaves_a_cloud_that_was_up(
    file: Path, switchyard: Switchyard, cloud: FakeCloud
) -> None:
    cloud.running = True

    switchyard("run", file)

    assert cloud.running


def test_a_failed_job_stops_the_cloud_too(
    file: Path, switchyard: Switchyard, cloud: FakeCloud, api: FakeApi
) -> None:
    failed = a_task("only", "failed", error="boom")
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("failed", failed)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/only", answer(a_task_view(failed)))

    result = switchyard("run", file)

    assert result.exit_code == 1
    assert cloud.calls == ["up", "down"]


def test_a_refused_job_stops_the_cloud_too(
    file: Path, switchyard: Switchyard, cloud: FakeCloud, api: FakeApi
) -> None:
    api.on("POST /jobs", problem(400, "…", tasks__0__name="'scrape' is not registered"))

    result = switchyard("run", file)

    assert f"{file}:1: tasks[0].name: 'scrape' is not registered" in result.stderr
    assert result.exit_code == 2
    assert not cloud.running


def test_ctrl_c_stops_what_was_started(
    file: Path, switchyard: Switchyard, cloud: FakeCloud, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)

    result = switchyard("run", file)

    assert result.stderr.splitlines()[-1] == (
        f"Interrupted. {JOB_ID} goes on when the local cloud is up again: `switchyard up`, then "
        f"`switchyard watch {JOB_ID}` follows it, `switchyard cancel {JOB_ID}` ends it."
    )
    assert result.exit_code == 130
    assert not cloud.running


def test_ctrl_c_leaves_the_job_to_a_cloud_that_was_up(
    file: Path, switchyard: Switchyard, cloud: FakeCloud, api: FakeApi, ctrl_c: Answer
) -> None:
    cloud.running = True
    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)

    result = switchyard("run", file)

    assert f"Interrupted. {JOB_ID} goes on: `switchyard watch {JOB_ID}` follows" in result.stderr
    assert cloud.running


def test_ctrl_c_twice_still_says_where_the_job_is(
    file: Path,
    switchyard: Switchyard,
    cloud: FakeCloud,
    api: FakeApi,
    ctrl_c: Answer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def press_again(_say: Say) -> None:
        signal.raise_signal(signal.SIGINT)

    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)
    monkeypatch.setattr(cloud, "down", press_again)

    result = switchyard("run", file)

    assert result.stderr.splitlines()[-1].startswith(f"Interrupted. {JOB_ID} goes on ")
    assert result.exit_code == 130


def test_ctrl_c_while_the_job_is_sent_says_that_it_may_have_been_submitted(
    file: Path, switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on("POST /jobs", ctrl_c)

    result = switchyard("run", file)

    assert result.stderr.splitlines()[-1] == (
        "Interrupted. The job may have been submitted: "
        "`switchyard up`, then `switchyard jobs` shows it."
    )
    assert result.exit_code == 130


def test_a_bad_file_starts_nothing(
    switchyard: Switchyard, cloud: FakeCloud, tmp_path: Path
) -> None:
    assert switchyard("run", tmp_path / "none.yaml").exit_code == 2
    assert cloud.calls == []


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("ANTHROPIC_API_KEY", "done by Claude (ANTHROPIC_API_KEY is set), and cost money."),
        ("CLAUDE_CODE_OAUTH_TOKEN", "done by Claude (CLAUDE_CODE_OAUTH_TOKEN is set), and cost"),
        ("UNRELATED", "done by the offline agent"),
    ],
)
def test_it_says_who_does_the_work(
    variable: str,
    expected: str,
    file: Path,
    switchyard: Switchyard,
    environment: dict[str, str],
) -> None:
    environment[variable] = "secret"

    result = switchyard("run", file)

    assert expected in result.stderr
    assert "secret" not in result.output
