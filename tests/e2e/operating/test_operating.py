"""What people do from the command line, on the deployed system."""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from switchyard.contracts.jobs import JobView
from switchyard.domain.health.diagnosis import Level
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard_cli.app import app
from switchyard_cli.wiring import real_services
from switchyard_local.functions.invoke import function_names
from switchyard_local.workers.log import WorkerLogFile
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually

EVENTS = ROOT / "tests" / "events"
NOTHING_COMES_BACK: dict[str, Any] = {"batchItemFailures": []}
Switchyard = Callable[..., Result]


@pytest.fixture
def switchyard(cloud: RunningCloud) -> Switchyard:
    worker_log = cloud.folder / "logs" / "worker.log"
    services = replace(
        real_services(),
        cloud=cloud.local,
        task_output=lambda _stage, _local, task, _since: nullcontext(
            WorkerLogFile(worker_log, task)
        ),
    )

    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], obj=services)

    return run


def test_every_function_has_a_recorded_event() -> None:
    assert sorted(file.stem for file in EVENTS.glob("*.json")) == function_names(ROOT)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("save_event", NOTHING_COMES_BACK),
        ("sweep", None),
        *(  # deployed, each answers its event in `functions/test_layers.py`
            pytest.param(function, expected, marks=pytest.mark.long)
            for function, expected in (
                ("archive_dead_letters", NOTHING_COMES_BACK),
                ("authorize", {"isAuthorized": False}),
                ("measure", None),
                ("process_dead_letters", NOTHING_COMES_BACK),
                ("match_signals", NOTHING_COMES_BACK),
                ("start_triggered", NOTHING_COMES_BACK),
            )
        ),
    ],
)
def test_a_recorded_event_is_handled(
    function: str, expected: dict[str, Any] | None, switchyard: Switchyard
) -> None:
    result = switchyard("invoke", function, EVENTS / f"{function}.json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == expected


def test_a_recorded_event_of_a_job_that_is_not_here_comes_back(switchyard: Switchyard) -> None:
    result = switchyard("invoke", "dispatch", EVENTS / "dispatch.json")

    (record,) = json.loads((EVENTS / "dispatch.json").read_text())["Records"]
    comes_back = [{"itemIdentifier": record["messageId"]}]
    assert json.loads(result.stdout) == {"batchItemFailures": comes_back}
    assert "there is no task" in result.stderr
    assert result.exit_code == 0


def test_a_recorded_request_is_answered(switchyard: Switchyard) -> None:
    result = switchyard("invoke", "api", EVENTS / "api.json")

    answer = json.loads(result.stdout)
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["stage"] == "local"


@pytest.mark.long  # deployed, the function answers the same press in `functions/test_layers.py`
def test_a_recorded_press_is_refused_as_long_as_nobody_has_set_up_slack(
    switchyard: Switchyard,
) -> None:
    result = switchyard("invoke", "answer_slack", EVENTS / "answer_slack.json")

    assert json.loads(result.stdout)["statusCode"] == 404


def test_an_event_that_no_handler_understands_ends_in_one(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "event.json"
    file.write_text('{"Records": "none"}')

    result = switchyard("invoke", "save-event", file)

    assert result.exit_code == 1
    assert json.loads(result.stdout)["errorType"]


def test_a_deployed_stage_is_well(switchyard: Switchyard) -> None:
    findings = json.loads(switchyard("doctor", "--json").stdout)

    levels = {finding["subject"]: finding["level"] for finding in findings}
    assert Level.FAIL not in levels.values(), findings
    assert levels["stacks"] == levels["subscriptions"] == levels["schedules"] == Level.OK


@pytest.mark.usefixtures("brand_job")
def test_the_numbers_of_a_stage_count_tasks_and_workers(switchyard: Switchyard) -> None:
    def once_counted() -> dict[str, Any] | None:
        reported = json.loads(switchyard("metrics", "--json", "--window", "60").stdout)
        numbers: dict[str, Any] = reported["metrics"]
        return numbers if numbers["completion_rate"] else None

    numbers = eventually(once_counted, "nothing was counted")
    assert numbers["claim_rate"] >= numbers["completion_rate"] > 0
    assert numbers["avg_processing_time"] > 0
    assert numbers["consumer_count"] >= 1


@pytest.fixture
def running_again(switchyard: Switchyard) -> Iterator[None]:
    yield
    assert switchyard("resume").exit_code == 0


@pytest.mark.usefixtures("running_again")
def test_while_it_is_paused_no_task_is_begun(cloud: RunningCloud, switchyard: Switchyard) -> None:
    worker_log = cloud.folder / "logs" / "worker.log"
    before = len(worker_log.read_text())  # other tests may have paused it, too
    assert switchyard("pause", "--reason", "a test").exit_code == 0
    eventually(
        lambda: "consumption is paused" in worker_log.read_text()[before:] or None, "no pause"
    )

    job_id = cloud.submit(a_job({"taskId": "a"}))
    eventually(lambda: _is(cloud, job_id, "pending"), "it is not queued")
    assert "Paused" in switchyard("jobs").stderr
    paused = {f["subject"]: f["said"] for f in json.loads(switchyard("doctor", "--json").stdout)}
    assert "a test" in paused["consumption"]
    reported = len(worker_log.read_text())
    assert switchyard("resume").exit_code == 0

    assert cloud.settled(job_id).status == "completed"
    since = worker_log.read_text()[reported:]
    assert since.index("consumption is resumed") < since.index(f"[WORKFLOW:{job_id}__a]")


def test_a_running_task_is_followed_to_its_end(cloud: RunningCloud, switchyard: Switchyard) -> None:
    job_id = cloud.submit(a_job({"taskId": "a", **scripted(delayMs=1_500)}))
    eventually(lambda: _is(cloud, job_id, "processing"), "it does not run")

    result = switchyard("logs", job_id, "a", "--follow")

    assert result.exit_code == 0, result.output
    assert "· " in result.stdout
    assert cloud.task(job_id, "a").status == "completed"


def test_the_files_of_a_settled_task_are_brought_here(
    brand_job: JobView, switchyard: Switchyard, tmp_path: Path
) -> None:
    listed = switchyard("artifacts", brand_job.job_id, "compile-result", "--json")
    names = {file["name"] for file in json.loads(listed.stdout)}

    result = switchyard("artifacts", brand_job.job_id, "compile-result", "--to", tmp_path)

    assert result.exit_code == 0, result.output
    brought = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert brought == names
    assert RESULT_FILE in brought


def _is(cloud: RunningCloud, job_id: str, status: str) -> bool | None:
    return cloud.task(job_id, "a").status == status or None
