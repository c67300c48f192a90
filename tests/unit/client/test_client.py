"""The client sees a job through: one request means one job, whatever the network does."""

from typing import Any

import httpx
import pytest

from switchyard.client import Client, Job, StillRunning, UnusableJob
from switchyard.contracts.changes import CancelAccepted, RedriveAccepted, TaskCancelAccepted
from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.contracts.jobs import JobAccepted, TasksAdded
from switchyard.contracts.overview import JobPage, JobSummary
from switchyard.testing import ManualClock
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    KEY,
    TRACE_ID,
    FakeApi,
    a_job,
    a_task,
    a_task_view,
    answer,
    problem,
)
from tests.unit.cli.fakes.event_log import FakeLog, an_event
from tests.unit.cli.fakes.events import DONE, JOB_ROUTE, RUNNING, created, ended, job_ended, pending

ACCEPTED = JobAccepted(
    job_id=JOB_ID, total_tasks=1, root_tasks=("scrape",), created_at=CREATED, trace_id=TRACE_ID
)
JOB = f"/jobs/{JOB_ID}"


def a_small_job() -> Job:
    job = Job("brand")
    job.task("scrape", input={"url": "https://shop.example"})
    return job


def keys_sent(api: FakeApi) -> list[str]:
    return [request.headers["idempotency-key"] for request in api.requests]


def test_a_job_is_sent_with_the_key_of_the_tenant(client: Client, api: FakeApi) -> None:
    api.on("POST /jobs", answer(ACCEPTED, 201))

    assert client.submit(a_small_job()).job_id == JOB_ID
    assert api.requests[0].headers["x-api-key"] == KEY
    (sent,) = api.sent("POST /jobs")
    assert sent["tasks"] == [
        {"taskId": "scrape", "name": "scrape", "input": {"url": "https://shop.example"}}
    ]


def test_anything_but_a_job_is_refused_with_what_to_give(client: Client, api: FakeApi) -> None:
    content: Any = {"tasks": [{"taskId": "scrape", "name": "scrape"}]}

    with pytest.raises(TypeError, match=r"a Job, not a dict: make one with Job\(name\)"):
        client.submit(content)
    with pytest.raises(TypeError, match="a Job, not a dict"):
        client.add(JOB_ID, content)

    assert api.requests == []


@pytest.mark.parametrize(
    "lost",
    [
        httpx.ReadTimeout("slow"),
        httpx.ConnectError("refused"),
        problem(503, "try again in a moment"),
        problem(429, "too fast"),
    ],
    ids=["timeout", "refused", "503", "429"],
)
def test_however_often_it_is_sent_it_is_one_job(
    lost: httpx.Response | Exception, client: Client, api: FakeApi
) -> None:
    api.on("POST /jobs", lost, lost, answer(ACCEPTED, 201))

    client.submit(a_small_job())
    client.submit(a_small_job())

    first, second, third, other = keys_sent(api)
    assert first == second == third != other


def test_a_key_of_ones_own_is_sent_as_it_is(client: Client, api: FakeApi) -> None:
    api.on("POST /jobs", answer(ACCEPTED, 201))

    client.submit(a_small_job(), key="order-4711")

    assert keys_sent(api) == ["order-4711"]


def test_a_wait_ends_when_the_job_does(client: Client, api: FakeApi) -> None:
    outage = problem(503, "try again in a moment")
    api.on(f"GET {JOB}", outage, answer(RUNNING), outage, answer(RUNNING), answer(DONE))

    assert client.wait(JOB_ID).status == "completed"


def test_a_wait_may_have_an_end_of_its_own(
    client: Client, api: FakeApi, clock: ManualClock
) -> None:
    api.on(f"GET {JOB}", answer(RUNNING))
    began = clock.monotonic()

    with pytest.raises(StillRunning, match=f"{JOB_ID} is processing after 20 seconds"):
        client.wait(JOB_ID, timeout_seconds=20)

    assert 20 <= clock.monotonic() - began < 22


def test_a_job_that_ends_at_the_last_moment_has_ended(client: Client, api: FakeApi) -> None:
    api.on(f"GET {JOB}", answer(a_job("failed", a_task("scrape", "failed"))))

    assert client.wait(JOB_ID, timeout_seconds=0).status == "failed"


def test_events_are_streamed_as_they_come_each_once(client: Client, api: FakeApi) -> None:
    events = [an_event(created()), an_event(pending(), 5), an_event(ended(), 9)]
    log = FakeLog(events[0])
    coming = [*events[1:], an_event(job_ended(), 10)]

    def grow(_: int) -> None:
        if coming:
            log.events.append(coming.pop(0))

    log.on_read = grow
    api.on(JOB_ROUTE, log, problem(503, "try again in a moment"), log)
    api.on(f"GET {JOB}", answer(DONE))

    assert [event.event_type for event in client.stream(JOB_ID)] == [
        "Job Created",
        "Task Pending",
        "Task Completed",
        "Job Completed",
    ]


def test_a_task_is_named_by_its_handle_or_its_id(client: Client, api: FakeApi) -> None:
    view = a_task_view(a_task("scrape", "completed"), output={"title": "Shop"})
    api.on(f"GET {JOB}/tasks/scrape", answer(view))
    handle = Job().task("scrape")

    assert client.task(JOB_ID, handle).output == {"title": "Shop"}
    assert client.task(JOB_ID, "scrape") == client.task(JOB_ID, handle)


@pytest.mark.parametrize(
    "lost",
    [(), (httpx.ReadTimeout("slow"),), (problem(503, "try again in a moment"),)],
    ids=["nothing", "timeout", "503"],
)
def test_tasks_are_added_and_sent_again_if_the_answer_was_lost(
    lost: tuple[httpx.Response | Exception, ...], client: Client, api: FakeApi
) -> None:
    added = TasksAdded(
        job_id=JOB_ID, added_tasks=("more",), immediately_ready=(), total_tasks_now=2
    )
    api.on(f"POST {JOB}/tasks", *lost, answer(added))
    more = Job()
    more.task("more", after=["scrape"])

    assert client.add(JOB_ID, more) == added
    body = {"tasks": [{"taskId": "more", "name": "more", "dependsOn": ["scrape"]}]}
    assert api.sent(f"POST {JOB}/tasks") == [body] * (1 + len(lost))


def test_a_cancel_is_repeated_until_it_is_answered(client: Client, api: FakeApi) -> None:
    accepted = CancelAccepted(job_id=JOB_ID, status="processing")
    api.on(f"POST {JOB}/cancel", httpx.ReadError("lost"), answer(accepted, 202))
    of_task = TaskCancelAccepted(
        job_id=JOB_ID, status="cancelled", task_id="a", request_id=f"{JOB_ID}__a"
    )
    api.on(f"POST {JOB}/tasks/a/cancel", answer(of_task, 202))

    assert client.cancel(JOB_ID) == accepted
    assert client.cancel_task(JOB_ID, "a") == of_task


def test_a_redrive_says_what_is_to_change(client: Client, api: FakeApi) -> None:
    accepted = RedriveAccepted(job_id=JOB_ID, run=2, ready_tasks=("a",), reopened_tasks=2)
    not_yet = problem(409, "the job is not settled")
    not_yet.headers["Retry-After"] = "5"
    api.on(f"POST {JOB}/redrive", not_yet, answer(accepted, 202))

    assert client.redrive(JOB_ID, "a", model="claude-opus-5-5", input=None) == accepted
    assert api.sent(f"POST {JOB}/redrive")[0] == {
        "tasks": ["a"],
        "model": "claude-opus-5-5",
        "input": None,
    }


def test_a_redrive_runs_completed_tasks_again_or_says_what_it_would_run(
    client: Client, api: FakeApi
) -> None:
    planned = RedriveAccepted(job_id=JOB_ID, run=2, ready_tasks=("a",), reopened_tasks=2)
    api.on(f"POST {JOB}/redrive", answer(planned, 202))

    assert client.redrive(JOB_ID, from_=["a"], dry_run=True, latest=True) == planned
    assert api.sent(f"POST {JOB}/redrive") == [
        {"tasks": [], "from": ["a"], "dryRun": True, "latest": True}
    ]


def test_a_redrive_that_cannot_be_is_not_sent(client: Client, api: FakeApi) -> None:
    with pytest.raises(UnusableJob, match="max"):
        client.redrive(JOB_ID, max_turns=0)

    assert api.requests == []


def test_jobs_are_listed_page_by_page(client: Client, api: FakeApi) -> None:
    def page(number: int, cursor: str | None) -> httpx.Response:
        facts: dict[str, Any] = {"name": "n", "status": "failed", "total_tasks": 1}
        job = JobSummary(job_id=f"job-{number}", created_at=CREATED, **facts)
        return answer(JobPage(jobs=(job,), cursor=cursor))

    api.on("GET /jobs", page(1, "on"), page(2, None))

    assert [job.job_id for job in client.jobs(status="failed", tag="a:b")] == ["job-1", "job-2"]
    assert [dict(request.url.params) for request in api.requests] == [
        {"limit": "100", "status": "failed", "tag": "a:b"},
        {"limit": "100", "status": "failed", "tag": "a:b", "cursor": "on"},
    ]


def test_definitions_are_registered(client: Client, api: FakeApi) -> None:
    scrape = RegisteredDefinition(name="scrape", version=1, tag="reader", description="Read.")
    api.on("PUT /task-definitions/scrape", answer(scrape))

    assert client.define("scrape", TaskDefinition(tag="reader", description="Read.")) == scrape
