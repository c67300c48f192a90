"""`events`: the log for people and for programs."""

import json

import httpx
import pytest

from switchyard.contracts.events import TaskSkipped
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    JOB_ID,
    NOW_MS,
    FakeApi,
    problem,
)
from tests.unit.cli.fakes.event_log import FakeLog, an_event
from tests.unit.cli.fakes.events import (
    REQUEST_ID,
    of,
    pending,
)

pytestmark = pytest.mark.usefixtures("in_a_known_zone")


@pytest.mark.usefixtures("log")
def test_a_job_is_told_in_local_time_with_what_matters(switchyard: Switchyard) -> None:
    result = switchyard("events", JOB_ID)

    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "time            event                    task    what it says",
        "Friday, 15 January 2027",
        "09:00:00.000  ● Job Created                      1 task",
        "09:00:00.005  ○ Task Pending             scrape  scrape-page",
        "09:00:01.500  ✔ Task Completed           scrape  1.2 s, $0.0125, 42 tokens",
        "09:00:01.600  ✔ Job Completed                    1 completed",
    ]
    assert result.stderr == ""


@pytest.mark.usefixtures("log")
def test_json_is_one_object_per_line(switchyard: Switchyard) -> None:
    result = switchyard("events", JOB_ID, "--json")

    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["eventType"] for line in lines] == [
        "Job Created",
        "Task Pending",
        "Task Completed",
        "Job Completed",
    ]
    assert lines[2]["properties"]["usage"]["costUsd"] == 0.0125
    assert lines[2]["timestampMs"] == NOW_MS + 1_500


def test_fields_of_a_newer_api_are_passed_on(switchyard: Switchyard, log: FakeLog) -> None:
    log.events = [an_event(pending()).model_copy(update={"mood": "good"})]

    assert json.loads(switchyard("events", JOB_ID, "--json").stdout)["mood"] == "good"


def test_control_characters_are_seen_and_not_obeyed(switchyard: Switchyard, log: FakeLog) -> None:
    evil = "\x1b[2Jgone\n\u202e[bold]"
    log.events = [an_event(TaskSkipped(**of(), reason=evil))]

    result = switchyard("events", JOB_ID)

    assert "\\x1b[2Jgone\\n\\u202e[bold]" in result.stdout
    assert not {"\x1b", "\u202e"} & set(result.stdout)


def test_what_a_newer_sender_says_is_shown_as_it_is(switchyard: Switchyard, log: FakeLog) -> None:
    newer = an_event(pending()).model_copy(
        update={"event_type": "Task Dreamt", "properties": {"of": "sheep"}}
    )
    log.events = [newer]

    assert switchyard("events", JOB_ID).stdout.endswith(
        'Task Dreamt              scrape  {"of": "sheep"}\n'
    )


@pytest.mark.parametrize(
    "name", [[REQUEST_ID], [JOB_ID, "scrape"]], ids=["request id", "job and task"]
)
def test_a_task_is_named_as_everywhere(
    switchyard: Switchyard, log: FakeLog, name: list[str]
) -> None:
    assert switchyard("events", *name).exit_code == 0
    assert log.asked[0]["entity"] == REQUEST_ID


def test_events_are_asked_for_by_type_app_and_time(switchyard: Switchyard, log: FakeLog) -> None:
    result = switchyard("events", "--type", "task-failed", "--app", "shop", "--since", "2h")

    assert result.exit_code == 0
    asked = {"type": "task-failed", "app": "shop", "since": "2h"}
    assert log.asked == [asked | {"order": "newest", "limit": "100"}]
    assert REQUEST_ID in result.stdout


def test_a_time_without_a_zone_is_local(switchyard: Switchyard, log: FakeLog) -> None:
    switchyard("events", "--since", "2027-01-15T09:00:01", "--until", "2027-01-15T08:00:09Z")

    assert log.asked[0]["since"] == "2027-01-15T09:00:01+01:00"
    assert log.asked[0]["until"] == "2027-01-15T08:00:09+00:00"


def test_the_newest_are_shown_oldest_first_and_the_rest_is_mentioned(
    switchyard: Switchyard, log: FakeLog
) -> None:
    result = switchyard("events", "--limit", "2", "--json")

    types = [json.loads(line)["eventType"] for line in result.stdout.splitlines()]
    assert types == ["Task Completed", "Job Completed"]
    assert result.stderr == "Older ones are left out: raise --limit, or move on with --until.\n"
    assert switchyard("events", "--limit", "4").stderr == ""
    log.page_size = 3
    assert "Older ones" not in switchyard("events", "--limit", "4").stderr
    log.events.append(an_event(pending(2), 1_700))
    assert "Older ones" in switchyard("events", "--limit", "4").stderr


def test_a_job_is_read_to_its_end(switchyard: Switchyard, log: FakeLog) -> None:
    log.events = [an_event(pending(run), run) for run in range(1, 2_502)]

    result = switchyard("events", JOB_ID, "--json")

    runs = [json.loads(line)["properties"]["run"] for line in result.stdout.splitlines()]
    assert runs == list(range(1, 2_502))
    assert [asked.get("cursor") for asked in log.asked] == [None, "1000", "2000"]


@pytest.mark.parametrize("arguments", [[JOB_ID], ["--type", "job-failed"]])
def test_nothing_found_is_said(switchyard: Switchyard, log: FakeLog, arguments: list[str]) -> None:
    log.events = []

    assert switchyard("events", *arguments).stdout == "No events.\n"


@pytest.mark.parametrize("arguments", [["nope"], ["nope", "--json"]])
def test_what_is_no_job_is_not_answered_with_an_empty_log(
    switchyard: Switchyard, log: FakeLog, arguments: list[str]
) -> None:
    log.events = []

    result = switchyard("events", *arguments)

    assert "'nope' is not a job id; `switchyard jobs` lists them." in result.stderr
    assert result.exit_code == 2
    assert switchyard("events", *arguments, "--json").stdout == ""


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([JOB_ID, "a b"], "'a b' is not a task id."),
        (["nonsense__x"], "is not of the form job-…__taskId"),
        ([JOB_ID, "--app", "shop"], "--app is for all of an app's events"),
        ([JOB_ID, "-f", "--until", "1h"], "leave --until out"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    switchyard: Switchyard, arguments: list[str], words: str
) -> None:
    result = switchyard("events", *arguments)

    assert words in result.stderr
    assert result.exit_code == 2


def test_a_refusal_of_the_api_is_shown_with_its_parameter(
    switchyard: Switchyard, api: FakeApi
) -> None:
    api.on("GET /events", problem(400, "no", type="'x' is not a type of event"))

    result = switchyard("events", "--type", "x")

    assert result.stderr == "The API refused:\n  type: 'x' is not a type of event\n"
    assert result.exit_code == 2


def test_an_outage_before_anything_was_shown_is_told(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /events", httpx.ConnectError("refused"))

    result = switchyard("events", "--since", "1h")

    assert "The local cloud is not running" in result.stderr
    assert result.exit_code == 3
