"""`cancel` and `redrive`."""

import json
from pathlib import Path

import pytest

from switchyard.contracts.changes import CancelAccepted, RedriveAccepted, TaskCancelAccepted
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    JOB_ID,
    Answer,
    FakeApi,
    a_job,
    a_task,
    a_task_view,
    answer,
    problem,
)

REQUEST_ID = f"{JOB_ID}__scrape"
CANCEL = f"POST /jobs/{JOB_ID}/cancel"
CANCEL_TASK = f"POST /jobs/{JOB_ID}/tasks/scrape/cancel"
REDRIVE = f"POST /jobs/{JOB_ID}/redrive"
TASK = a_task("scrape", "processing")


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on(CANCEL, answer(CancelAccepted(job_id=JOB_ID, status="cancelling"), 202))
    waiting = TaskCancelAccepted(
        job_id=JOB_ID, task_id="scrape", request_id=REQUEST_ID, status="processing"
    )
    api.on(CANCEL_TASK, answer(waiting, 202))
    accepted = RedriveAccepted(job_id=JOB_ID, run=2, ready_tasks=("scrape",), reopened_tasks=3)
    api.on(REDRIVE, answer(accepted, 202))
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", problem(404, "no such task"))
    return api


def for_now(detail: str) -> object:
    refused = problem(409, detail)
    refused.headers["Retry-After"] = "5"
    return refused


def test_a_job_is_cancelled_without_a_question(switchyard: Switchyard) -> None:
    result = switchyard("cancel", JOB_ID)
    assert result.stdout == f"{JOB_ID} is being cancelled.\n"
    assert result.exit_code == 0


@pytest.mark.parametrize("named", [[REQUEST_ID], [JOB_ID, "scrape"]], ids=" ".join)
def test_a_task_is_cancelled_by_either_name(switchyard: Switchyard, named: list[str]) -> None:
    result = switchyard("cancel", *named)
    assert result.stdout == f"{REQUEST_ID} is processing, and will be cancelled.\n"
    assert result.exit_code == 0


def test_waiting_ends_when_the_job_has_settled_and_that_is_success(
    switchyard: Switchyard, api: FakeApi
) -> None:
    cancelled = a_job("cancelled", a_task("scrape", "cancelled"))
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("processing", TASK)), answer(cancelled))
    result = switchyard("cancel", JOB_ID, "--wait", "--json")
    assert json.loads(result.stdout)["status"] == "cancelled"
    assert result.exit_code == 0


def test_waiting_ends_when_the_task_has_settled(switchyard: Switchyard, api: FakeApi) -> None:
    views = [a_task_view(a_task("scrape", status)) for status in ("processing", "cancelled")]
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", *map(answer, views))
    result = switchyard("cancel", REQUEST_ID, "--wait")
    assert "cancelled" in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "command", [["cancel", JOB_ID], ["cancel", REQUEST_ID], ["redrive", JOB_ID]]
)
def test_json_parses_and_is_alone(switchyard: Switchyard, command: list[str]) -> None:
    result = switchyard(*command, "--json")
    assert json.loads(result.stdout)["jobId"] == JOB_ID
    assert result.stderr == ""


@pytest.mark.parametrize("name", ["nonsense", "job-1__x", ""])
def test_what_is_neither_a_job_nor_a_task_is_refused(switchyard: Switchyard, name: str) -> None:
    assert switchyard("cancel", name).exit_code == 2


def test_all_that_failed_is_redriven_when_nothing_is_named(
    switchyard: Switchyard, api: FakeApi
) -> None:
    result = switchyard("redrive", JOB_ID)
    assert result.stdout == f"{JOB_ID}: run 2, 1 task at once and 2 after\n"
    assert f"switchyard watch {JOB_ID}" in result.stderr
    assert api.sent(REDRIVE) == [{"tasks": []}]


def test_tasks_input_model_and_limits_are_sent(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    file = tmp_path / "input.yaml"
    file.write_text("shop: blue\n")
    limits = ["--max-turns", "20", "--timeout", "60000", "--max-cost-usd", "1.5"]
    given = ["--task", "scrape", "--input", str(file), "--model", "claude-opus"]
    assert switchyard("redrive", JOB_ID, *given, *limits).exit_code == 0
    assert api.sent(REDRIVE) == [
        {
            "tasks": ["scrape"],
            "input": {"shop": "blue"},
            "model": "claude-opus",
            "maxTurns": 20,
            "timeout": 60000,
            "maxCostUsd": 1.5,
        }
    ]


@pytest.mark.parametrize("tasks", [["scrape"], ["--task", "scrape"]], ids=len)
def test_a_task_is_named_after_the_job_or_by_an_option(
    switchyard: Switchyard, api: FakeApi, tasks: list[str]
) -> None:
    assert switchyard("redrive", JOB_ID, *tasks).exit_code == 0
    assert api.sent(REDRIVE) == [{"tasks": ["scrape"]}]


@pytest.mark.parametrize("tasks", [[], ["--task", "a", "--task", "b"]], ids=len)
def test_an_input_needs_exactly_one_task(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path, tasks: list[str]
) -> None:
    file = tmp_path / "input.json"
    file.write_text("{}")
    result = switchyard("redrive", JOB_ID, "--input", file, *tasks)
    assert result.stderr == "--input needs exactly one --task or --from.\n"
    assert result.exit_code == 2
    assert api.requests == []


@pytest.mark.parametrize(
    "wrong",
    [
        ["--task", "a b"],
        ["--max-turns", "0"],
        ["--timeout", "1"],
        ["--max-cost-usd", "0"],
        ["--model", ""],
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_refused_before_anything_is_sent(
    switchyard: Switchyard, api: FakeApi, wrong: list[str]
) -> None:
    assert switchyard("redrive", JOB_ID, *wrong).exit_code == 2
    assert api.requests == []


def test_a_bad_input_is_told_on_its_line(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    file = tmp_path / "input.yaml"
    file.write_text("shop: blue\nfrom: ${tasks.nobody.output}\n")
    api.on(REDRIVE, problem(400, "no", input__from="names 'nobody', which does not exist"))
    result = switchyard("redrive", JOB_ID, "--task", "scrape", "--input", file)
    assert result.stderr == f"{file}:2: from: names 'nobody', which does not exist\n"
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("route", "command"), [(REDRIVE, "redrive"), (CANCEL, "cancel")], ids=["redrive", "cancel"]
)
def test_what_will_pass_is_waited_for(
    switchyard: Switchyard, api: FakeApi, route: str, command: str
) -> None:
    [accepted] = api.routes[route]
    refused = for_now("the job is still emitting its events; try again in a minute")
    api.on(route, refused, refused, accepted)  # type: ignore[arg-type]
    result = switchyard(command, JOB_ID)
    assert result.exit_code == 0
    assert (
        result.stderr.count("still emitting its events; try again in a minute. Trying again.") == 2
    )


def test_what_does_not_pass_within_a_minute_is_refused(
    switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(REDRIVE, for_now("the job is still emitting its events"))  # type: ignore[arg-type]
    result = switchyard("redrive", JOB_ID)
    assert result.exit_code == 2
    assert 10 < len(api.requests) < 15


def test_what_will_not_pass_is_refused_at_once(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(REDRIVE, problem(409, "there is nothing to redrive: no task failed"))
    result = switchyard("redrive", JOB_ID)
    assert result.stderr == "The API refused: there is nothing to redrive: no task failed.\n"
    assert len(api.requests) == 1


def test_a_redriven_job_may_be_watched(switchyard: Switchyard, api: FakeApi) -> None:
    done = a_job("completed", a_task("scrape", "completed"))
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("processing", TASK)), answer(done))
    view = a_task_view(a_task("scrape", "completed"), output={"n": 1})
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(view))
    assert switchyard("redrive", JOB_ID, "--watch").exit_code == 0


def test_ctrl_c_while_a_redriven_job_is_watched_names_the_job(
    switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)
    result = switchyard("redrive", JOB_ID, "--watch")
    assert result.stderr.startswith(f"Interrupted. {JOB_ID} goes on: `switchyard watch {JOB_ID}`")
    assert result.exit_code == 130


def test_ctrl_c_while_a_redrive_is_sent_says_that_it_may_have_begun(
    switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on(REDRIVE, ctrl_c)
    result = switchyard("redrive", JOB_ID, "--watch")
    said = f"{JOB_ID} may have been redriven: `switchyard job {JOB_ID}` shows it."
    assert (result.stderr, result.exit_code) == (f"Interrupted. {said}\n", 130)


def test_ctrl_c_while_waiting_for_a_cancellation_says_that_it_goes_on(
    switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)
    result = switchyard("cancel", JOB_ID, "--wait")
    said = f"{JOB_ID} is being cancelled: `switchyard watch {JOB_ID}` follows it."
    assert (result.stderr, result.exit_code) == (f"Interrupted. {said}\n", 130)


@pytest.mark.parametrize("command", ["cancel", "redrive"])
def test_help_says_what_it_does(switchyard: Switchyard, command: str) -> None:
    result = switchyard(command, "--help")
    assert result.exit_code == 0
    assert "--json" in result.stdout
