"""`jobs`, `job`, `task`, `definitions`: for people and for programs."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition
from switchyard.contracts.jobs import TaskSummary
from switchyard.contracts.overview import JobPage, JobSummary
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    TRACE_ID,
    WELL,
    FakeApi,
    a_job,
    a_task,
    a_task_view,
    answer,
)

REQUEST_ID = f"{JOB_ID}__scrape"
SCRAPE = a_task("scrape", "processing")
PAGE = JobPage(
    jobs=(
        JobSummary(
            job_id=JOB_ID,
            name="brand",
            status="processing",
            total_tasks=2,
            created_at=CREATED,
            tags={"team": "web"},
        ),
    ),
    cursor="next-page",
)
DEFINITION = RegisteredDefinition(name="scrape", version=3, tag="reader", description="Read.")


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on("GET /jobs", answer(PAGE))
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("processing", SCRAPE)))
    view = a_task_view(SCRAPE, input={"url": "https://shop.example"}, input_tokens=12)
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(view))
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(DEFINITION,))))
    api.on("PUT /task-definitions/scrape", answer(DEFINITION))
    return api


@pytest.mark.parametrize(
    "command",
    [
        ["jobs"],
        ["job", JOB_ID],
        ["task", REQUEST_ID],
        ["task", JOB_ID, "scrape"],
        ["definitions", "list"],
        ["status"],
    ],
    ids=" ".join,
)
def test_json_parses_and_is_alone(command: list[str], switchyard: Switchyard) -> None:
    result = switchyard(*command, "--json")

    assert json.loads(result.stdout)
    assert result.stderr == ""
    assert result.exit_code == 0


def test_jobs_are_listed_with_the_way_to_more(switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("jobs", "--limit", "1", "--cursor", "here")

    assert JOB_ID in result.stdout
    assert "processing" in result.stdout
    assert result.stderr == "More: switchyard jobs --limit 1 --cursor next-page\n"
    assert dict(api.requests[0].url.params) == {"limit": "1", "cursor": "here"}


def test_some_of_the_jobs_are_listed_with_the_way_to_more_of_them(
    switchyard: Switchyard, api: FakeApi
) -> None:
    result = switchyard("jobs", "--status", "failed", "--tag", "team:the web")

    assert "brand team:web" in result.stdout
    assert result.stderr == (
        "More: switchyard jobs --status failed --tag 'team:the web' --limit 20 --cursor next-page\n"
    )
    assert dict(api.requests[0].url.params) == {
        "limit": "20",
        "status": "failed",
        "tag": "team:the web",
    }


def test_a_status_that_no_job_has_is_refused(switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("jobs", "--status", "retrying")

    assert "partial_failure" in result.stderr
    assert api.requests == []
    assert result.exit_code == 2


def test_a_pause_is_said_with_the_jobs(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /jobs", answer(JobPage(jobs=())))
    api.on("GET /health", answer(WELL.model_copy(update={"paused": True})))

    result = switchyard("jobs")

    assert result.stderr == "Paused: no task is begun until `switchyard resume`.\n"
    assert result.stdout == "No jobs.\n"


def test_no_jobs_is_said(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /jobs", answer(JobPage(jobs=())))

    assert switchyard("jobs").stdout == "No jobs.\n"


def test_a_job_is_a_picture(switchyard: Switchyard) -> None:
    result = switchyard("job", JOB_ID)

    assert f"● brand  processing  0 of 1 tasks completed  0.0 s  {JOB_ID}" in result.stdout
    assert "● scrape" in result.stdout
    assert f"Its trace is {TRACE_ID}." in result.stderr


def test_a_task_shows_its_input_and_figures(switchyard: Switchyard) -> None:
    result = switchyard("task", REQUEST_ID)

    assert "https://shop.example" in result.stdout
    assert "12 in, 0 out, 0 from cache" in result.stdout


def test_a_job_and_its_tasks_are_shown_as_being_cancelled(
    switchyard: Switchyard, api: FakeApi
) -> None:
    done = a_task("done", "completed")
    cancelling = a_job("processing", SCRAPE, done, cancel_requested=True)
    api.on(f"GET /jobs/{JOB_ID}", answer(cancelling))

    lines = switchyard("job", JOB_ID).stdout.splitlines()

    assert lines[0].startswith("● brand  processing, being cancelled  1 of 2 tasks completed  ")
    shown = {line.split()[1]: line for line in lines[2:]}
    assert "processing, being cancelled" in shown["scrape"]
    assert "being cancelled" not in shown["done"]


def test_a_task_that_is_being_cancelled_alone_says_so(switchyard: Switchyard, api: FakeApi) -> None:
    asked = SCRAPE.model_copy(update={"cancel_requested": True})
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("processing", asked)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(a_task_view(asked)))

    header, _, row = switchyard("job", JOB_ID).stdout.splitlines()

    assert "being cancelled" not in header
    assert "processing, being cancelled" in row
    shown = switchyard("task", REQUEST_ID).stdout.splitlines()[0]
    assert shown == "scrape  ● processing, being cancelled"


def test_the_error_of_an_earlier_attempt_is_not_that_of_a_completed_task(
    switchyard: Switchyard, api: FakeApi
) -> None:
    retried = a_task("scrape", "completed", attempt=2, error="boom")
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", retried)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(a_task_view(retried)))

    assert "boom" not in switchyard("job", JOB_ID).stdout
    shown = switchyard("task", REQUEST_ID).stdout
    assert "attempt     2 of 3, run 1, after: boom\n" in shown
    assert "error  " not in shown


def test_a_task_tells_where_its_files_are(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    folder = tmp_path / REQUEST_ID / "2"
    folder.mkdir(parents=True)
    view = a_task_view(SCRAPE, artifacts=f"s3://bucket/task/logs/{REQUEST_ID}/2/")
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(view))

    result = switchyard("task", REQUEST_ID)

    assert f"files       s3://bucket/task/logs/{REQUEST_ID}/2/\n" in result.stdout
    assert f"on disk     {folder}\n" in result.stdout


def test_definitions_are_listed(switchyard: Switchyard) -> None:
    assert "reader" in switchyard("definitions", "list").stdout


def test_the_definitions_of_a_file_are_registered(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    file = tmp_path / "definitions.yaml"
    file.write_text("definitions:\n  scrape: {tag: reader, description: Read.}\n")

    result = switchyard("definitions", "put", file)

    assert result.exit_code == 0, result.stderr
    assert api.sent("PUT /task-definitions/scrape") == [{"tag": "reader", "description": "Read."}]


def test_a_file_without_definitions_is_refused(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "definitions.yaml"
    file.write_text("tasks: []\n")

    result = switchyard("definitions", "put", file)

    assert result.stderr == f"{file}:1: definitions: is required\n"
    assert result.exit_code == 2


def test_fields_of_a_newer_api_do_no_harm(switchyard: Switchyard, api: FakeApi) -> None:
    newer = a_job("processing", SCRAPE).model_dump(mode="json", by_alias=True)
    newer["urgency"] = newer["tasks"][0]["urgency"] = 7
    api.on(f"GET /jobs/{JOB_ID}", answer(newer))

    assert switchyard("job", JOB_ID).exit_code == 0


def test_definitions_are_listed_page_by_page(api: FakeApi, switchyard: Switchyard) -> None:
    second = DEFINITION.model_copy(update={"name": "write"})
    first = DefinitionList(definitions=(DEFINITION,), cursor="scrape")
    api.on("GET /task-definitions", answer(first), answer(DefinitionList(definitions=(second,))))
    listed = json.loads(switchyard("definitions", "list", "--json").stdout)
    assert [one["name"] for one in listed] == ["scrape", "write"]
    assert [dict(request.url.params) for request in api.requests[-2:]] == [{}, {"cursor": "scrape"}]


def shown_task(switchyard: Switchyard, api: FakeApi, task: TaskSummary, **facts: Any) -> str:
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(a_task_view(task, **facts)))
    return switchyard("task", REQUEST_ID).stdout


def test_a_failed_task_says_why_it_was_not_retried(switchyard: Switchyard, api: FakeApi) -> None:
    failed = a_task("scrape", "failed", error="no title")

    shown = shown_task(switchyard, api, failed, error_category="validation")

    assert "category    validation; not retried because validation is permanent: " in shown


def test_a_task_shows_the_time_that_its_job_shows(switchyard: Switchyard, api: FakeApi) -> None:
    done = a_task("scrape", "completed")
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", done)))
    ready = CREATED - timedelta(seconds=3)

    shown = shown_task(switchyard, api, done, ready_at=ready, duration_ms=1_234)

    assert "time        ran 2.0 s, waited 3.0 s\n" in shown
    assert " 2.0 s " in switchyard("job", JOB_ID).stdout.splitlines()[2]


def test_a_held_task_has_no_attempts_and_says_how_long_it_was_held(
    switchyard: Switchyard, api: FakeApi
) -> None:
    held = a_task("scrape", "held", kind="approval", attempt=0, started_at=None)

    shown = shown_task(switchyard, api, held, ready_at=CREATED - timedelta(seconds=90))

    assert "attempt" not in shown
    assert "time        held for 1 min 30 s\n" in shown
