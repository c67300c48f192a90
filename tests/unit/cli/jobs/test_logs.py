"""`logs`: what a task prints, live or stored, and Ctrl-C."""

import json

import httpx
import pytest

from switchyard.contracts.jobs import FileLink
from switchyard.domain.errors import Unavailable
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, NOW_MS, FakeApi, a_task, a_task_view, answer
from tests.unit.cli.fakes.stage import FakeTaskOutput

REQUEST_ID = f"{JOB_ID}__scrape"
ROUTE = f"GET /jobs/{JOB_ID}/tasks/scrape"
RUNNING = a_task_view(a_task("scrape", "processing"))
BUCKET = "http://127.0.0.1:4580/bucket"


def a_file(name: str, size: int = 3) -> FileLink:
    return FileLink(name=name, size=size, content_type="text/plain", url=f"{BUCKET}/{name}?signed")


DONE = a_task_view(
    a_task("scrape", "completed"),
    files=(a_file("artifacts/result.json"), a_file("logs/stderr.log"), a_file("logs/stdout.log")),
)


def test_what_a_settled_task_printed_is_read_from_the_bucket(
    switchyard: Switchyard, api: FakeApi, task_output: FakeTaskOutput
) -> None:
    api.on(ROUTE, answer(DONE))
    api.on("GET /bucket/logs/stdout.log", httpx.Response(200, text="one\n\x1b[2Jtwo\n"))
    api.on("GET /bucket/logs/stderr.log", httpx.Response(200, text="trouble\n"))

    result = switchyard("logs", REQUEST_ID)

    assert result.stdout == "one\n\\x1b[2Jtwo\ntrouble\n"
    assert result.exit_code == 0
    assert task_output.asked == []
    assert "x-api-key" not in api.requests[-1].headers


def test_a_settled_task_that_printed_nothing(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(ROUTE, answer(a_task_view(a_task("scrape", "completed"))))

    result = switchyard("logs", JOB_ID, "scrape", "--follow")

    assert result.stdout == ""
    assert result.stderr == "It printed nothing that was stored.\n"
    assert result.exit_code == 0


def test_what_a_task_printed_so_far(
    switchyard: Switchyard, api: FakeApi, task_output: FakeTaskOutput
) -> None:
    api.on(ROUTE, answer(RUNNING))
    task_output.lines = [
        ['::step {"type": "sdk_query", "stepName": "read"}', "hello \x1b[31mworld"]
    ]

    result = switchyard("logs", REQUEST_ID)

    assert result.stdout == "· read: sdk query\nhello \\x1b[31mworld\n"
    assert result.stderr == "It is processing; --follow shows what comes.\n"
    assert task_output.asked == [("local", True, REQUEST_ID, NOW_MS)]


def test_a_running_task_is_followed_to_its_end(
    switchyard: Switchyard, api: FakeApi, task_output: FakeTaskOutput
) -> None:
    api.on(
        ROUTE, answer(RUNNING), answer(RUNNING), httpx.Response(503), answer(RUNNING), answer(DONE)
    )
    task_output.lines = [["one"], [], ["two"], ["last"]]

    result = switchyard("logs", REQUEST_ID, "-f")

    assert result.stdout == "one\ntwo\nlast\n"
    assert result.exit_code == 0


def test_json_is_a_line_for_a_line(
    switchyard: Switchyard, api: FakeApi, task_output: FakeTaskOutput
) -> None:
    api.on(ROUTE, answer(RUNNING))
    task_output.lines = [["one \x1b[2J", "two"]]

    result = switchyard("logs", REQUEST_ID, "--json")

    reported = [json.loads(line) for line in result.stdout.splitlines()]
    assert reported == [{"line": "one \x1b[2J"}, {"line": "two"}]


def test_ctrl_c_leaves_the_task_alone(
    switchyard: Switchyard, api: FakeApi, task_output: FakeTaskOutput
) -> None:
    api.on(ROUTE, answer(RUNNING))
    task_output.lines, task_output.outage = [["one"]], KeyboardInterrupt()

    result = switchyard("logs", REQUEST_ID, "-f")

    assert result.stdout == "one\n"
    assert result.stderr == "Stopped following; the task goes on.\n"
    assert result.exit_code == 130


def test_a_log_that_is_out_of_reach(
    switchyard: Switchyard, api: FakeApi, task_output: FakeTaskOutput, environment: dict[str, str]
) -> None:
    environment.update(SWITCHYARD_API_KEY="key", SWITCHYARD_API_URL="https://example.com/api")
    api.on(ROUTE, answer(RUNNING))
    task_output.outage = Unavailable("You must specify a region.")

    result = switchyard("logs", REQUEST_ID, "--stage", "dev")

    assert result.stderr.startswith("The log of the stage dev is out of reach: You must specify")
    assert result.exit_code == 3
    assert task_output.asked == [("dev", False, REQUEST_ID, NOW_MS)]


@pytest.mark.parametrize(
    ("status", "reported", "code"),
    [(403, "The link has expired", 2), (404, "The link has expired", 2), (500, "bucket", 3)],
)
def test_a_stored_log_that_cannot_be_had(
    status: int, reported: str, code: int, switchyard: Switchyard, api: FakeApi
) -> None:
    api.on(ROUTE, answer(DONE))
    api.on("GET /bucket/logs/stdout.log", httpx.Response(status))

    result = switchyard("logs", REQUEST_ID)

    assert reported in result.stderr
    assert result.exit_code == code
