"""`submit`: definitions first, then the job; refusals land on the file's lines."""

import json
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition
from switchyard.contracts.jobs import JobAccepted
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    KEY,
    TRACE_ID,
    Answer,
    FakeApi,
    a_job,
    a_task,
    answer,
    problem,
)

JOB = """\
name: brand
definitions:
  scrape:
    tag: reader
    description: Read the shop.
tasks:
  - taskId: first
    name: scrape
    input: {url: https://shop.example, nothing: null}
  - taskId: second
    name: elsewhere
"""
ACCEPTED = JobAccepted(
    job_id=JOB_ID, total_tasks=2, root_tasks=("first",), created_at=CREATED, trace_id=TRACE_ID
)
SCRAPE = RegisteredDefinition(name="scrape", version=1, tag="reader", description="Read the shop.")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "brand.yaml"
    file.write_text(JOB)
    return file


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on("PUT /task-definitions/scrape", answer(SCRAPE))
    api.on("POST /jobs", answer(ACCEPTED, 201))
    return api


def test_it_sends_what_the_file_says(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("submit", file)

    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{JOB_ID}: 2 tasks\n"
    assert f"switchyard watch {JOB_ID}" in result.stderr
    assert f"Its trace is {TRACE_ID}." in result.stderr
    assert [request.method for request in api.requests] == ["PUT", "POST"]
    assert {request.headers["x-api-key"] for request in api.requests} == {KEY}
    assert api.sent("POST /jobs") == [
        {
            "name": "brand",
            "tasks": [
                {
                    "taskId": "first",
                    "name": "scrape",
                    "input": {"url": "https://shop.example", "nothing": None},
                },
                {"taskId": "second", "name": "elsewhere"},
            ],
        }
    ]


def test_json_is_all_there_is_on_stdout(file: Path, switchyard: Switchyard) -> None:
    result = switchyard("submit", "--json", file)

    assert json.loads(result.stdout)["jobId"] == JOB_ID


def test_an_unknown_definition_is_told_on_its_line(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    refused = problem(400, "…", tasks__1__name="'elsewhere' is not a registered task definition")
    api.on("POST /jobs", refused)
    registered = RegisteredDefinition(name="else-where", version=1, description="d", tag="t")
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(registered,))))

    result = switchyard("submit", file)

    said = "'elsewhere' is not a registered task definition; did you mean 'else-where'?"
    assert result.stderr == f"{file}:11: tasks[1].name: {said}\n"
    assert result.exit_code == 2


def test_a_refused_definition_is_told_on_its_line(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    api.on("PUT /task-definitions/scrape", problem(400, "…", tag="is reserved"))

    result = switchyard("submit", file)

    assert result.stderr == f"{file}:4: definitions.scrape.tag: is reserved\n"
    assert result.exit_code == 2


def test_watching_shows_the_job_to_its_end(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    first = a_task("first", "failed", error="boom")
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("failed", first)))

    result = switchyard("submit", "--watch", "--json", file)

    assert json.loads(result.stdout)["status"] == "failed"
    assert "first failed  2.0 s  boom" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize("watch", [["--watch"], []], ids=len)
def test_ctrl_c_while_the_job_is_sent_says_that_it_may_have_been_submitted(
    file: Path,
    switchyard: Switchyard,
    api: FakeApi,
    ctrl_c: Answer,
    environment: dict[str, str],
    watch: list[str],
) -> None:
    environment.update(SWITCHYARD_API_KEY="key", SWITCHYARD_API_URL="https://example.com/api")
    api.on("POST /jobs", ctrl_c)

    result = switchyard("submit", file, "--stage", "dev", *watch)

    said = "The job may have been submitted: `switchyard jobs --stage dev` shows it."
    assert (result.stderr, result.exit_code) == (f"Interrupted. {said}\n", 130)


def test_ctrl_c_before_the_job_is_sent_says_nothing_of_a_job(
    file: Path, switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on("PUT /task-definitions/scrape", ctrl_c)

    result = switchyard("submit", file, "--watch")

    assert (result.stderr, result.exit_code) == ("Interrupted.\n", 130)


def test_ctrl_c_while_watching_names_the_job_that_was_submitted(
    file: Path, switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)

    result = switchyard("submit", file, "--watch")

    assert result.stderr.startswith(f"Interrupted. {JOB_ID} goes on: `switchyard watch {JOB_ID}`")
    assert result.exit_code == 130


def keys_sent(api: FakeApi) -> list[str]:
    return [r.headers["idempotency-key"] for r in api.requests if r.method == "POST"]


@pytest.mark.parametrize(
    "lost", [httpx.ReadTimeout("slow"), problem(503, "try again in a moment"), httpx.ReadError("x")]
)
def test_an_answer_that_is_lost_is_asked_for_once_more_under_the_same_key(
    lost: httpx.Response | Exception, file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    again = ACCEPTED.model_copy(update={"repeated": True})
    api.on("POST /jobs", lost, answer(again, 201))

    result = switchyard("submit", file)

    assert result.exit_code == 0, result.stderr
    assert "used before" not in result.stderr
    assert keys_sent(api) == ["a-new-key"] * 2


def test_an_api_that_stays_away_is_asked_twice_and_no_more(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    api.on("POST /jobs", problem(503, "try again in a moment"))

    result = switchyard("submit", file)

    assert result.exit_code == 3
    assert len(keys_sent(api)) == 2


def test_a_refusal_is_not_asked_for_again(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    api.on("POST /jobs", problem(422, "the idempotency key 'k' was used for another job"))

    result = switchyard("submit", "--key", "k", file)

    assert "was used for another job" in result.stderr
    assert result.exit_code == 2
    assert keys_sent(api) == ["k"]


@pytest.mark.parametrize("key", ["", "two words", "a#b"])
def test_a_key_that_is_none_is_not_sent(
    key: str, file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    result = switchyard("submit", "--key", key, file)

    assert "--key must be 1 to 255 printable ASCII characters" in result.stderr
    assert result.exit_code == 2
    assert api.requests == []


def test_a_key_that_was_used_before_is_reported(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    earlier = JobAccepted(
        job_id=JOB_ID,
        total_tasks=2,
        root_tasks=("first",),
        created_at=CREATED - timedelta(hours=1),
        trace_id=None,
        repeated=True,
    )
    api.on("POST /jobs", answer(earlier, 201))

    result = switchyard("submit", file, "--key", "mine")

    said = f"This key was used before: {JOB_ID} is the job that it started at 2027-01-15 07:00 UTC."
    assert said in result.stderr


def test_a_dry_run_reports_unknown_definitions_and_tools_in_one_answer(
    tmp_path: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        "definitions:\n  own: {tag: t, description: d, tools: [Telepathy]}\n"
        "tasks:\n  - {taskId: a, name: own}\n  - {taskId: b, name: scrap}\n"
    )
    api.on("GET /task-definitions", answer(DefinitionList(definitions=(SCRAPE,))))

    result = switchyard("submit", "--dry-run", file)

    assert result.exit_code == 2
    assert "'Telepathy' is not a tool" in result.stderr
    assert f"{file}:5: " in result.stderr
    assert "'scrap' is not a registered task definition" in result.stderr
    assert "scrape" in result.stderr
