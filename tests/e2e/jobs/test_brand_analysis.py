"""The example job, submitted over HTTP, through every part of the deployed system."""

import json
from collections import Counter
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import RunningCloud

TASKS = {"scrape-store", "analyze-competitors", "color-tags", "font-pairing", "compile-result"}
OF_THE_JOB = ("Job Created", "Job Completed")
OF_EACH_TASK = ("Task Pending", "Task Processing Started", "Task Completed")


def expected(job: JobView) -> Counter[tuple[str, str]]:
    of_tasks = [(f"{job.job_id}__{task}", reported) for task in TASKS for reported in OF_EACH_TASK]
    return Counter([*((job.job_id, reported) for reported in OF_THE_JOB), *of_tasks])


def events_of(cloud: RunningCloud, index: str, condition: Any) -> list[dict[str, Any]]:
    table = cloud.table(cloud.output("infrastructure", "EventsTableName"))
    return list(table.query(IndexName=index, KeyConditionExpression=condition)["Items"])


@pytest.fixture(scope="module")
def all_saved(cloud: RunningCloud, brand_job: JobView) -> None:
    """Events reach their table a moment after the job has ended."""
    clock = SystemClock()
    deadline = clock.monotonic() + 20
    while told_by_gsi3(cloud, brand_job).total() < expected(brand_job).total():
        assert clock.monotonic() < deadline, told_by_gsi3(cloud, brand_job)
        clock.sleep(0.2)
    clock.sleep(0.5)  # long enough for one too many to show


def told_by_gsi1(cloud: RunningCloud, job: JobView) -> Counter[tuple[str, str]]:
    """Return the events without heartbeats, which no other index has."""
    entities = [f"JOB#{job.job_id}", *(f"TASK#{job.job_id}__{name}" for name in TASKS)]
    events = [
        event
        for entity in entities
        for event in events_of(cloud, "GSI1-index", Key("GSI1PK").eq(entity))
        if event["eventType"] != "Task Heartbeat"
    ]
    return Counter((event["entityId"], event["eventType"]) for event in events)


def told_by_gsi3(cloud: RunningCloud, job: JobView) -> Counter[tuple[str, str]]:
    app = Key("GSI3PK").eq("APP#task-workflow")
    prefixes = (f"JOB#{job.job_id}#TIMESTAMP#", f"TASK#{job.job_id}__")
    events = [
        event
        for prefix in prefixes
        for event in events_of(cloud, "GSI3-index", app & Key("GSI3SK").begins_with(prefix))
    ]
    return Counter((event["entityId"], event["eventType"]) for event in events)


def test_the_job_completes(brand_job: JobView) -> None:
    assert brand_job.status == "completed"
    assert brand_job.progress == {"completed": 5}
    assert {task.task_id for task in brand_job.tasks} == TASKS
    assert all(task.attempt == 1 for task in brand_job.tasks)


def test_the_job_is_listed(cloud: RunningCloud, brand_job: JobView) -> None:
    with cloud.http as http:
        jobs = http.get("/jobs", params={"limit": 100}).json()["jobs"]
    assert brand_job.job_id in {job["jobId"] for job in jobs}


@pytest.mark.usefixtures("all_saved")
def test_each_event_was_saved_exactly_once(cloud: RunningCloud, brand_job: JobView) -> None:
    assert told_by_gsi1(cloud, brand_job) == expected(brand_job)
    assert told_by_gsi3(cloud, brand_job) == expected(brand_job)


def test_a_task_starts_after_what_it_waits_for(brand_job: JobView) -> None:
    by_id = {task.task_id: task for task in brand_job.tasks}
    for task in brand_job.tasks:
        for parent in task.depends_on:
            settled, started = by_id[parent].settled_at, task.started_at
            assert settled is not None
            assert started is not None
            assert settled <= started


def test_outputs_reach_the_prompts_of_what_follows(cloud: RunningCloud, brand_job: JobView) -> None:
    report = cloud.task(brand_job.job_id, "compile-result")
    prompt = cloud.prompt(report)
    for parent in ("color-tags", "font-pairing"):
        output = cloud.task(brand_job.job_id, parent).output
        assert output
        for value in leaves(output):
            assert json.dumps(value, ensure_ascii=False) in prompt


def leaves(value: Any) -> list[Any]:
    match value:
        case dict():
            return [leaf for inner in value.values() for leaf in leaves(inner)]
        case list():
            return [leaf for inner in value for leaf in leaves(inner)]
    return [value]


@pytest.mark.parametrize("task_id", sorted(TASKS))
def test_artifacts_logs_and_traces_are_in_the_bucket(
    cloud: RunningCloud, brand_job: JobView, task_id: str
) -> None:
    task = cloud.task(brand_job.job_id, task_id)
    assert json.loads(cloud.blob(task, "artifacts/task-result.json")) == task.output
    assert cloud.blob(task, "logs/summary.log")
    assert json.loads(cloud.blob(task, "traces/session_trace.json"))
