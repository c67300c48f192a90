"""The log of the deployed system, through its API and through the command line."""

import json
import subprocess
import sys
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.documents import a_job, scripted

PATIENCE_SECONDS = 20


def pages(cloud: RunningCloud, path: str, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with cloud.http as http:
        while True:
            page = http.get(path, params=asked).raise_for_status().json()
            found += page["events"]
            if page["cursor"] is None:
                return found
            asked["cursor"] = page["cursor"]


def all_told(cloud: RunningCloud, job_id: str, *, count: int) -> list[dict[str, Any]]:
    """The job's events, once so many have reached their table."""
    clock = SystemClock()
    deadline = clock.monotonic() + PATIENCE_SECONDS
    while True:
        events = pages(cloud, f"/jobs/{job_id}/events", limit=3)
        if len(events) >= count:
            return events
        assert clock.monotonic() < deadline, events
        clock.sleep(0.2)


def switchyard(cloud: RunningCloud, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as its users run it, against this cloud as if it were a deployed stage."""
    return subprocess.run(
        [sys.executable, "-m", "switchyard_cli", *arguments, "--stage", "dev"],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "SWITCHYARD_API_URL": cloud.endpoint.api_url,
            "SWITCHYARD_API_KEY": cloud.endpoint.api_key,
            "TZ": "UTC",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def reported(cloud: RunningCloud, brand_job: JobView) -> list[dict[str, Any]]:
    of_each_task, of_the_job = 3, 2
    return all_told(cloud, brand_job.job_id, count=5 * of_each_task + of_the_job)


def test_a_jobs_events_are_those_in_the_table_in_order(
    cloud: RunningCloud, brand_job: JobView, reported: list[dict[str, Any]]
) -> None:
    table = cloud.table(cloud.output("infrastructure", "EventsTableName"))
    of_tenant = Key("PK").eq("TENANT#local")
    stored = [
        item
        for item in table.query(KeyConditionExpression=of_tenant)["Items"]
        if brand_job.job_id in item["entityId"] and item["eventType"] != "Task Heartbeat"
    ]
    assert [event["eventId"] for event in reported] == [item["eventId"] for item in stored]
    assert [event["timestampMs"] for event in reported] == [
        int(item["timestamp"]) for item in stored
    ]
    outputs = {
        event["properties"]["requestId"]: event["properties"]["output"]
        for event in reported
        if event["eventType"] == "Task Completed"
    }
    for task in brand_job.tasks:
        view = cloud.task(brand_job.job_id, task.task_id)
        assert outputs[view.request_id] == view.output


@pytest.mark.usefixtures("reported")
def test_events_are_found_by_type_across_jobs(cloud: RunningCloud, brand_job: JobView) -> None:
    found = pages(cloud, "/events", type="task-completed", since="1h")
    assert {event["eventType"] for event in found} == {"Task Completed"}
    requests = {event["entityId"] for event in found}
    assert {f"{brand_job.job_id}__{task.task_id}" for task in brand_job.tasks} <= requests


@pytest.mark.usefixtures("reported")
def test_nobody_reads_the_log_without_a_key_or_with_anothers(
    cloud: RunningCloud, brand_job: JobView
) -> None:
    with cloud.http as http:
        path = f"/jobs/{brand_job.job_id}/events"
        assert http.get(path, headers={"x-api-key": "swy.local.guess"}).status_code == 403
        assert http.get("/events", headers={"x-api-key": "wrong"}).status_code == 403


def test_the_log_of_the_example_agrees_with_the_state_table(
    cloud: RunningCloud, brand_job: JobView, reported: list[dict[str, Any]]
) -> None:
    result = switchyard(cloud, "verify", brand_job.job_id)
    agree = f"5 tasks, {len(reported)} events: the log and the state table agree.\n"
    assert (result.stdout, result.stderr, result.returncode) == (agree, "", 0)


def test_a_job_is_followed_from_its_first_event_to_its_last(cloud: RunningCloud) -> None:
    fail = {"category": "network", "message": "connection reset", "times": 1}
    large = {"text": "x" * 210_000}
    document = a_job(
        {"taskId": "flaky", **scripted(fail=fail)},
        {"taskId": "fed", "input": large},
        {"taskId": "after", "dependsOn": ["flaky", "fed"]},
    )
    job_id = cloud.submit(document)

    followed = switchyard(cloud, "events", job_id, "--follow", "--json")

    assert followed.returncode == 0, followed.stderr
    events = [json.loads(line) for line in followed.stdout.splitlines()]
    assert len({event["eventId"] for event in events}) == len(events)
    assert {event["eventType"] for event in events} >= {"Job Created", "Task Processing Failed"}
    assert "Job Completed" in {event["eventType"] for event in events}
    every = all_told(cloud, job_id, count=13)
    assert {event["eventId"] for event in events} <= {event["eventId"] for event in every}
    (created,) = [e["properties"] for e in events if e["eventType"] == "Job Created"]
    assert [task.get("input") for task in created["tasks"]][1] == large


@pytest.mark.usefixtures("reported")
def test_people_read_the_log_of_a_job(cloud: RunningCloud, brand_job: JobView) -> None:
    result = switchyard(cloud, "events", brand_job.job_id)
    assert result.returncode == 0, result.stderr
    for task in brand_job.tasks:
        assert sum(f"  {task.task_id}" in line for line in result.stdout.splitlines()) == 3
    assert "Job Completed" in result.stdout
