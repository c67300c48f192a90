"""`watch` without a terminal: a line per change, then what the job left behind."""

import json
from pathlib import Path

import httpx
import pytest

from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    JOB_ID,
    WELL,
    Answer,
    FakeApi,
    FakeCloud,
    a_job,
    a_task,
    a_task_view,
    answer,
)

BUCKET = "s3://bucket/task/logs/"
FOLDER = f"{JOB_ID}__scrape/1"

SCRAPED = a_task("scrape", "completed", cost_usd=0.0125)
COMPILED = a_task("compile", "completed", after=("scrape",))
FAILED = a_task("compile", "failed", after=("scrape",), error="no [bold]\x1b[31mschema", attempt=3)

BEGINNING = a_job(
    "processing", a_task("compile", "waiting", after=("scrape",)), a_task("scrape", "processing")
)
MIDDLE = a_job("processing", a_task("compile", "processing", after=("scrape",)), SCRAPED)
END = a_job("completed", COMPILED, SCRAPED)


@pytest.fixture
def api(api: FakeApi) -> FakeApi:
    api.on(f"GET /jobs/{JOB_ID}", *map(answer, (BEGINNING, BEGINNING, MIDDLE, END)))
    scraped = a_task_view(SCRAPED, output={"title": "Shop"}, artifacts=f"{BUCKET}{FOLDER}/")
    compiled = a_task_view(COMPILED, output={"advice": ["[red]Äther\x1b[2J"]})
    api.on(f"GET /jobs/{JOB_ID}/tasks/scrape", answer(scraped))
    api.on(f"GET /jobs/{JOB_ID}/tasks/compile", answer(compiled))
    return api


def test_every_change_is_one_line(switchyard: Switchyard, api: FakeApi) -> None:
    result = switchyard("watch", JOB_ID)

    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[:8] == [
        f"{JOB_ID} brand: 2 tasks",
        "    0.0 s  scrape processing",
        "    0.0 s  compile waiting",
        "    0.0 s  job processing",
        "    0.7 s  scrape completed  2.0 s  $0.0125",
        "    0.7 s  compile processing",
        "    4.0 s  compile completed  2.0 s",
        "    4.0 s  job completed  $0.0125",
    ]


def test_nothing_steers_the_terminal(switchyard: Switchyard) -> None:
    result = switchyard("watch", JOB_ID)

    assert "\x1b" not in result.stdout
    assert '"[red]Äther[2J"' in result.stdout


def test_the_results_are_those_of_the_last_tasks(switchyard: Switchyard) -> None:
    result = switchyard("watch", JOB_ID)

    assert "Output of compile" in result.stdout
    assert "Output of scrape" not in result.stdout


def test_files_on_this_machine_are_told_by_folder(switchyard: Switchyard, tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)

    result = switchyard("watch", JOB_ID)

    assert result.stdout.splitlines()[-2:] == [
        f"  {folder}",
        f"  The same in the bucket, below {BUCKET}",
    ]


def test_files_elsewhere_are_told_by_their_place_in_the_bucket(switchyard: Switchyard) -> None:
    result = switchyard("watch", JOB_ID)

    assert result.stdout.splitlines()[-1] == f"  {BUCKET}{FOLDER}/"


def test_a_failed_job_ends_in_one(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("failed", FAILED, SCRAPED)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/compile", answer(a_task_view(FAILED)))

    result = switchyard("watch", JOB_ID)

    assert "compile failed  2.0 s  attempt 3  no [bold][31mschema" in result.stdout
    assert "compile failed\nno [bold][31mschema" in result.stdout
    assert result.exit_code == 1


def test_json_comes_alone_and_at_the_end(switchyard: Switchyard) -> None:
    result = switchyard("watch", JOB_ID, "--json")

    assert json.loads(result.stdout)["status"] == "completed"
    assert "scrape completed" in result.stderr


def test_ctrl_c_leaves_the_job_alone(switchyard: Switchyard, api: FakeApi, ctrl_c: Answer) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(BEGINNING), ctrl_c)

    result = switchyard("watch", JOB_ID)

    assert result.stderr == (
        f"Interrupted. {JOB_ID} goes on: `switchyard watch {JOB_ID}` follows it, "
        f"`switchyard cancel {JOB_ID}` ends it.\n"
    )
    assert result.exit_code == 130


def test_after_ctrl_c_the_commands_reach_the_same_stage(
    switchyard: Switchyard, api: FakeApi, ctrl_c: Answer, environment: dict[str, str]
) -> None:
    environment.update(SWITCHYARD_API_KEY="key", SWITCHYARD_API_URL="https://example.com/api")
    api.on(f"GET /jobs/{JOB_ID}", ctrl_c)

    result = switchyard("watch", JOB_ID, "--stage", "dev")

    assert f"`switchyard watch {JOB_ID} --stage dev` follows it" in result.stderr
    assert f"`switchyard cancel {JOB_ID} --stage dev` ends it" in result.stderr


def test_ctrl_c_that_becomes_another_error_is_explained_as_well(
    switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    def import_that_fails(request: httpx.Request) -> httpx.Response:
        try:
            return ctrl_c(request)
        except KeyboardInterrupt:
            raise ImportError("cannot import name") from None

    api.on(f"GET /jobs/{JOB_ID}", import_that_fails)

    result = switchyard("watch", JOB_ID)

    assert result.stderr.startswith(f"Interrupted. {JOB_ID} goes on: ")
    assert result.exit_code == 130


def test_ctrl_c_after_the_end_does_not_say_that_the_job_goes_on(
    switchyard: Switchyard, api: FakeApi, ctrl_c: Answer
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(END))
    api.on(f"GET /jobs/{JOB_ID}/tasks/compile", ctrl_c)

    result = switchyard("watch", JOB_ID)

    assert (result.stderr, result.exit_code) == ("Interrupted.\n", 130)


def test_a_short_outage_is_waited_out(switchyard: Switchyard, api: FakeApi) -> None:
    outage = httpx.Response(503, json={"message": "Service Unavailable"})
    api.on(f"GET /jobs/{JOB_ID}", answer(BEGINNING), outage, outage, answer(END))

    assert switchyard("watch", JOB_ID).exit_code == 0


def test_a_long_outage_ends_the_watching(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(BEGINNING), httpx.ConnectError("refused"))

    result = switchyard("watch", JOB_ID)

    assert "The local cloud is not running" in result.stderr
    assert result.exit_code == 3


def test_a_job_whose_worker_died_is_not_waited_for(
    switchyard: Switchyard, api: FakeApi, cloud: FakeCloud
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(BEGINNING))
    cloud.worker_lives = False

    result = switchyard("watch", JOB_ID)

    assert "its log: worker.log. Try `switchyard up`." in result.stderr
    assert result.exit_code == 3


def test_a_worker_that_is_being_replaced_is_waited_for(
    switchyard: Switchyard, api: FakeApi, cloud: FakeCloud
) -> None:
    def replaced(request: httpx.Request) -> httpx.Response:
        cloud.worker_lives = True
        return answer(BEGINNING)

    api.on(
        f"GET /jobs/{JOB_ID}", answer(BEGINNING), replaced, *[answer(BEGINNING)] * 9, answer(END)
    )
    cloud.worker_lives = False

    assert switchyard("watch", JOB_ID).exit_code == 0


def test_the_workers_of_a_deployed_stage_are_not_looked_for_here(
    switchyard: Switchyard, api: FakeApi, cloud: FakeCloud, environment: dict[str, str]
) -> None:
    environment.update(SWITCHYARD_API_KEY="key", SWITCHYARD_API_URL="https://example.com/api")
    api.on(f"GET /jobs/{JOB_ID}", *[answer(BEGINNING)] * 20, answer(END))
    cloud.worker_lives = False

    assert switchyard("watch", JOB_ID, "--stage", "dev").exit_code == 0


def test_a_paused_stage_is_named_as_the_reason(switchyard: Switchyard, api: FakeApi) -> None:
    waits = a_job("processing", a_task("scrape", "pending"))
    api.on(f"GET /jobs/{JOB_ID}", *map(answer, (waits, waits, MIDDLE, END)))
    api.on("GET /health", answer(WELL.model_copy(update={"paused": True})))

    result = switchyard("watch", JOB_ID)

    paused = "Consumption is paused: no task is started until `switchyard resume`."
    assert result.stdout.count(paused) == 1


def test_a_long_wait_without_a_running_task_names_the_command_that_explains_it(
    switchyard: Switchyard, api: FakeApi
) -> None:
    waits = a_job("processing", a_task("scrape", "pending"))
    api.on(f"GET /jobs/{JOB_ID}", *map(answer, [waits] * 60), answer(END))

    result = switchyard("watch", JOB_ID)

    assert "No task has run for 30 s. Ask `switchyard doctor` why." in result.stdout


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("approval", f"gate waits for a person: `switchyard approve {JOB_ID} gate`, or `reject`."),
        ("signal", f"gate waits for a signal: `switchyard signal {JOB_ID} gate`."),
        ("wait", "gate waits; a wait ends within a minute after its time."),
    ],
)
def test_what_a_held_task_waits_for_is_said_once(
    switchyard: Switchyard, api: FakeApi, kind: str, said: str
) -> None:
    held = a_job("processing", a_task("gate", "held", kind=kind))
    api.on(f"GET /jobs/{JOB_ID}", *map(answer, [held] * 60), answer(END))

    result = switchyard("watch", JOB_ID)

    assert result.stdout.count(said) == 1
    assert "No task has run" not in result.stdout


def test_after_a_failure_the_command_that_continues_is_printed(
    switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("failed", FAILED, SCRAPED)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/compile", answer(a_task_view(FAILED)))

    result = switchyard("watch", JOB_ID)

    assert result.exit_code == 1
    assert f"Run it again with `switchyard redrive {JOB_ID} --watch`." in result.stderr


def test_the_output_of_a_fan_out_is_printed_and_not_those_of_its_items(
    switchyard: Switchyard, api: FakeApi
) -> None:
    items = [a_task(f"review[{n}]", "completed") for n in range(3)]
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", a_task("review", "completed"), *items)))
    for task in ("review", *(f"review%5B{n}%5D" for n in range(3))):
        name = task.replace("%5B", "[").replace("%5D", "]")
        view = a_task_view(a_task(name, "completed"), output=[name])
        api.on(f"GET /jobs/{JOB_ID}/tasks/{name}", answer(view))

    result = switchyard("watch", JOB_ID)

    assert "Output of review\n" in result.stdout
    assert "Output of review[" not in result.stdout


def test_of_many_results_a_few_are_printed_and_the_others_counted(
    switchyard: Switchyard, api: FakeApi
) -> None:
    names = [f"t{n}" for n in range(42)]
    tasks = [a_task(name, "completed") for name in names]
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", *tasks)))
    for task in tasks:
        api.on(f"GET /jobs/{JOB_ID}/tasks/{task.task_id}", answer(a_task_view(task, output=1)))

    result = switchyard("watch", JOB_ID)

    assert result.stdout.count("Output of ") == 5
    assert f"… and 37 more outputs: `switchyard task {JOB_ID} TASK`" in result.stdout
