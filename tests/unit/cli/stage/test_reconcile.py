"""`reconcile`: what the log knows that a restored state table has forgotten."""

import json
from collections.abc import Callable

import httpx
import pytest

from switchyard.contracts.events import (
    JobCancelled,
    JobCompleted,
    JobCreated,
    JobFailed,
    Properties,
)
from switchyard.contracts.events.views import EventPage, EventView
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeApi, a_job, answer, problem
from tests.unit.cli.fakes.event_log import an_event

SINCE = "2027-01-15T08:00:00+00:00"
LOST, CANCELLED, AGAIN, FINE, OPEN = (
    f"job-00000000-0000-4000-8000-{number:012}" for number in range(5)
)


def created(job: str) -> Properties:
    return JobCreated(job_id=job, request_id=job, run=1, tasks=(), total_tasks=0)


def ended(kind: type[JobCompleted | JobFailed | JobCancelled], job: str) -> Properties:
    return kind(job_id=job, run=1, total_tasks=0, task_statuses={})


def log_of(*said: Properties) -> Callable[[httpx.Request], httpx.Response]:
    """Answers by type, as the API does."""
    events: list[EventView] = [an_event(one) for one in said]

    def found(request: httpx.Request) -> httpx.Response:
        asked = dict(request.url.params)
        assert asked["since"] == SINCE
        matching = tuple(event for event in events if event.event_type == asked["type"])
        return answer(EventPage(events=matching))

    return found


@pytest.fixture
def restored(api: FakeApi) -> None:
    api.on(
        "GET /events",
        log_of(
            created(LOST),
            ended(JobCompleted, LOST),
            ended(JobCancelled, CANCELLED),
            ended(JobFailed, AGAIN),
            ended(JobCompleted, FINE),
            created(OPEN),
        ),
    )
    api.on(f"GET /jobs/{LOST}", problem(404, "there is no such job"))
    for job, status in ((CANCELLED, "processing"), (AGAIN, "processing"), (FINE, "completed")):
        api.on(f"GET /jobs/{job}", answer(a_job(status, job_id=job)))
    api.on(f"GET /jobs/{OPEN}", answer(a_job("processing", job_id=OPEN)))


@pytest.mark.usefixtures("restored")
def test_each_job_that_the_table_forgot_something_of_is_told_with_what_to_do(
    switchyard: Switchyard,
) -> None:
    result = switchyard("reconcile", "--since", SINCE)
    assert result.stdout.splitlines() == [
        f"{LOST}  lost: submit it again",
        f"{CANCELLED}  cancelled: cancel it again",
        f"{AGAIN}  runs again: nothing, unless its tasks must not run twice: then cancel it",
    ]
    assert "revoked after that moment are valid again" in result.stderr
    assert result.exit_code == 1


@pytest.mark.usefixtures("restored")
def test_programs_get_the_findings_as_json(switchyard: Switchyard) -> None:
    found = json.loads(switchyard("reconcile", "--since", SINCE, "--json").stdout)
    assert found["lookedAt"] == 5
    assert [(one["jobId"], one["finding"], one["status"]) for one in found["findings"]] == [
        (LOST, "lost", None),
        (CANCELLED, "cancelled", "processing"),
        (AGAIN, "runs again", "processing"),
    ]


def test_a_table_that_forgot_nothing_is_one_line(switchyard: Switchyard, api: FakeApi) -> None:
    api.on("GET /events", log_of(ended(JobCompleted, FINE)))
    api.on(f"GET /jobs/{FINE}", answer(a_job("completed", job_id=FINE)))
    result = switchyard("reconcile", "--since", SINCE)
    assert result.stdout == "1 job since then: the table agrees with the log.\n"
    assert result.exit_code == 0
