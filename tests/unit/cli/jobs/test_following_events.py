"""`events --follow`: the log as it grows, nothing twice, and an end."""

import json

import httpx
import pytest

from switchyard.contracts.events import TaskPending
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, answer
from tests.unit.cli.fakes.event_log import FakeLog, an_event
from tests.unit.cli.fakes.events import DONE, JOB_ROUTE, REQUEST_ID, RUNNING, job_ended, of, pending

pytestmark = pytest.mark.usefixtures("in_a_known_zone")


def test_following_a_settled_job_ends_by_itself(switchyard: Switchyard, log: FakeLog) -> None:
    result = switchyard("events", JOB_ID, "--follow")

    assert result.exit_code == 0
    assert result.stdout.count("Completed") == 2
    assert len(log.asked) == 2


def test_following_shows_what_comes_and_ends_after_the_jobs_last_event(
    switchyard: Switchyard, log: FakeLog, api: FakeApi
) -> None:
    coming = log.events[1:]
    log.events = log.events[:1]
    api.on(f"GET /jobs/{JOB_ID}", answer(RUNNING), answer(DONE))

    def grow(reads: int) -> None:
        if reads in {2, 5, 8}:
            log.events.append(coming.pop(0))

    log.on_read = grow

    result = switchyard("events", JOB_ID, "-f", "--json")

    types = [json.loads(line)["eventType"] for line in result.stdout.splitlines()]
    assert types == ["Job Created", "Task Pending", "Task Completed", "Job Completed"]
    assert result.exit_code == 0


def test_what_arrives_late_is_shown_once(switchyard: Switchyard, log: FakeLog) -> None:
    late = [log.events.pop(1), log.events.pop(1)]  # by then the job's last event is shown

    def arrive(reads: int) -> None:
        if reads in {1, 2}:
            log.events.append(late[reads - 1])

    log.on_read = arrive

    result = switchyard("events", JOB_ID, "-f", "--json")

    ids = [json.loads(line)["eventId"] for line in result.stdout.splitlines()]
    assert ids[2:] == [event.event_id for event in late]
    assert len(set(ids)) == len(ids) == 4


@pytest.mark.parametrize(("asked", "since"), [(["--since", "2h"], "2h"), ([], "60s")])
def test_following_an_empty_log_keeps_to_what_was_asked(
    switchyard: Switchyard, log: FakeLog, asked: list[str], since: str
) -> None:
    log.events = []

    def stop(reads: int) -> None:
        if reads == 2:
            raise KeyboardInterrupt

    log.on_read = stop

    switchyard("events", *asked, "-f")

    assert log.asked[-1]["since"] == since


def test_following_asks_for_a_window_and_not_for_everything_again(
    switchyard: Switchyard, log: FakeLog
) -> None:
    log.events = [an_event(pending(run), run * 60_000) for run in range(1, 9)]
    log.events.append(an_event(job_ended(), 8 * 60_000 + 1))

    switchyard("events", JOB_ID, "-f")

    assert log.asked[-1]["since"] == "2027-01-15T08:07:00.001000+00:00"


def test_what_was_left_out_at_first_is_not_news(switchyard: Switchyard, log: FakeLog) -> None:
    log.events.append(an_event(pending(2), 1_700))

    def stop(reads: int) -> None:
        if reads == 4:
            raise KeyboardInterrupt

    log.on_read = stop

    result = switchyard("events", "--limit", "2", "-f", "--json")

    assert len(result.stdout.splitlines()) == 2


def test_following_a_job_whose_last_event_never_comes_ends_too(
    switchyard: Switchyard, log: FakeLog
) -> None:
    log.events = log.events[:3]

    result = switchyard("events", JOB_ID, "-f")

    assert result.exit_code == 0
    assert 4 < len(log.asked) < 20


def test_the_end_of_an_earlier_run_is_not_the_end(
    switchyard: Switchyard, log: FakeLog, api: FakeApi
) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(RUNNING), answer(RUNNING), answer(DONE))
    last = an_event(job_ended(2), 9_000)

    def settle(reads: int) -> None:
        if reads == 6:
            log.events.append(last)

    log.on_read = settle

    result = switchyard("events", JOB_ID, "-f", "--json")

    ids = [json.loads(line)["eventId"] for line in result.stdout.splitlines()]
    assert ids[-1] == last.event_id


def test_following_a_task_ends_with_it(switchyard: Switchyard, log: FakeLog) -> None:
    log.events = log.events[1:3]

    result = switchyard("events", REQUEST_ID, "-f")

    assert result.exit_code == 0
    assert len(log.asked) == 2


def test_ctrl_c_ends_the_following(switchyard: Switchyard, log: FakeLog, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}", answer(RUNNING), KeyboardInterrupt())

    result = switchyard("events", JOB_ID, "-f")

    assert "Job Created" in result.stdout
    assert result.stderr == "Stopped following; the log goes on.\n"
    assert result.exit_code == 130


def test_a_short_outage_is_waited_out(switchyard: Switchyard, log: FakeLog, api: FakeApi) -> None:
    outage = httpx.Response(503, json={"message": "Service Unavailable"})
    api.on(JOB_ROUTE, log, outage, outage, log)

    assert switchyard("events", JOB_ID, "-f").exit_code == 0


def test_columns_fit_the_tasks_that_are_to_come(switchyard: Switchyard, log: FakeLog) -> None:
    start, *coming = log.events
    log.events = [start]

    def grow(reads: int) -> None:
        if reads == 1:
            log.events += [*coming, an_event(TaskPending(**of("longer-name"), name="x"), 1_700)]

    log.on_read = grow

    lines = switchyard("events", JOB_ID, "-f").stdout.splitlines()

    assert lines[2] == "09:00:00.000  ● Job Created                      1 task"
    assert lines[3] == "09:00:00.005  ○ Task Pending             scrape       scrape-page"
    assert lines[-1] == "09:00:01.700  ○ Task Pending             longer-name  x"
