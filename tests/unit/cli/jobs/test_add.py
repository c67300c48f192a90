"""`add`: definitions first, then the tasks; refusals land on the file's lines."""

import json
from pathlib import Path

import httpx
import pytest

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.jobs import TasksAdded
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, FakeCloud, answer, problem

TASKS = """\
definitions:
  scrape: {tag: reader, description: Read the shop.}
tasks:
  - taskId: more
    name: scrape
    dependsOn: [there]
    input: {nothing: null}
  - taskId: last
    name: elsewhere
    dependsOn: [more, there]
"""
ROUTE = f"POST /jobs/{JOB_ID}/tasks"
ADDED = TasksAdded(
    job_id=JOB_ID,
    added_tasks=("more", "last"),
    immediately_ready=("more",),
    total_tasks_now=1_007,
)
SCRAPE = RegisteredDefinition(name="scrape", version=1, tag="reader", description="Read the shop.")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "more.yaml"
    file.write_text(TASKS)
    return file


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on("PUT /task-definitions/scrape", answer(SCRAPE))
    api.on(ROUTE, answer(ADDED))
    return api


def test_tasks_that_all_have_to_wait_are_reported_so(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(ROUTE, answer(ADDED.model_copy(update={"immediately_ready": ()})))

    result = switchyard("add", JOB_ID, file)

    assert result.stdout == f"{JOB_ID}: 2 tasks added, none can start yet; 1,007 in all\n"


def test_it_sends_what_the_file_says(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("add", JOB_ID, file)

    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{JOB_ID}: 2 tasks added, 1 can start now; 1,007 in all\n"
    assert f"switchyard watch {JOB_ID}" in result.stderr
    assert [request.method for request in api.requests] == ["PUT", "POST"]
    assert api.sent(ROUTE) == [
        {
            "tasks": [
                {
                    "taskId": "more",
                    "name": "scrape",
                    "dependsOn": ["there"],
                    "input": {"nothing": None},
                },
                {"taskId": "last", "name": "elsewhere", "dependsOn": ["more", "there"]},
            ]
        }
    ]


def test_json_is_all_there_is_on_stdout(file: Path, switchyard: Switchyard) -> None:
    result = switchyard("add", "--json", JOB_ID, file)

    assert json.loads(result.stdout)["addedTasks"] == ["more", "last"]


def test_a_refusal_is_told_on_its_line(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    refused = problem(400, "…", tasks__0__taskId="the job has a task 'more' already")
    api.on(ROUTE, refused)

    result = switchyard("add", JOB_ID, file)

    assert result.stderr == f"{file}:4: tasks[0].taskId: the job has a task 'more' already\n"
    assert result.exit_code == 2


def test_a_job_that_has_ended_is_told(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    api.on(ROUTE, problem(409, "it has already ended: it is completed"))

    result = switchyard("add", JOB_ID, file)

    assert "already ended" in result.stderr
    assert result.exit_code == 2


def test_what_was_not_added_is_told(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    some = ADDED.model_copy(update={"added_tasks": ("more",), "problem": "it is being cancelled"})
    api.on(ROUTE, answer(some))

    result = switchyard("add", JOB_ID, file)

    assert "1 task added" in result.stdout
    assert "1 of 2 tasks were added: it is being cancelled." in result.stderr
    assert result.exit_code == 2


def test_it_is_sent_again_when_the_answer_is_lost(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    """What was added counts as such."""
    api.on(ROUTE, httpx.ReadTimeout("timed out"), answer(ADDED))

    result = switchyard("add", JOB_ID, file)

    assert len(api.sent(ROUTE)) == 2
    assert result.exit_code == 0


def test_it_is_given_up_when_there_is_never_an_answer(
    file: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(ROUTE, httpx.ReadTimeout("timed out"))

    result = switchyard("add", JOB_ID, file)

    assert len(api.sent(ROUTE)) > 10
    assert result.exit_code == 3


SOME = ADDED.model_copy(
    update={"added_tasks": ("more",), "problem": "there was not time enough", "try_again": True}
)


def test_it_goes_on_until_all_are_in(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    api.on(ROUTE, answer(SOME), answer(ADDED))

    result = switchyard("add", JOB_ID, file)

    first, second = api.sent(ROUTE)
    assert first == second
    assert "1 of 2 tasks are in: there was not time enough." in result.stderr
    assert "2 tasks added" in result.stdout
    assert result.exit_code == 0


def test_who_comes_no_further_gives_up(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    api.on(ROUTE, answer(SOME))

    result = switchyard("add", JOB_ID, file)

    assert len(api.sent(ROUTE)) == 2
    assert "1 of 2 tasks were added: there was not time enough." in result.stderr
    assert result.exit_code == 2


def test_the_plan_as_json(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("add", "--dry-run", "--json", JOB_ID, file)

    assert json.loads(result.stdout) == {
        "levels": [["more"], ["last"]],
        "tasksExpected": ["there"],
        "definitionsInFile": ["scrape"],
        "definitionsExpected": ["elsewhere"],
    }
    assert api.requests == []


def test_the_plan_for_people(file: Path, switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    result = switchyard("add", "--dry-run", JOB_ID, file)

    assert result.exit_code == 0
    assert "Level 2: last\nExpects in the job: there\n" in result.stdout
    assert result.stderr == f"{file} is valid; nothing was sent.\n"


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ("[{taskId: a, name: s, dependsOn: [b]}, {taskId: b, name: s, dependsOn: [a]}]", "cycle"),
        ("[{taskId: a, name: s}, {taskId: a, name: s}]", "used 2 times"),
        ("[{taskId: a, name: s, dependsOn: [__end__]}]", "which does not exist"),
        ("[]", "this one 0"),
        ("[{taskId: a}]", "tasks[0].name: is required"),
    ],
)
def test_a_file_is_checked_before_anything_is_sent(
    tasks: str, words: str, tmp_path: Path, switchyard: Switchyard, api: FakeApi
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(f"tasks: {tasks}\n")

    result = switchyard("add", JOB_ID, file)

    assert f"{file}:1: " in result.stderr
    assert words in result.stderr
    assert result.exit_code == 2
    assert api.requests == []


def test_a_job_is_named_by_its_id(file: Path, switchyard: Switchyard, api: FakeApi) -> None:
    assert switchyard("add", "42", file).exit_code == 2
    assert api.requests == []
