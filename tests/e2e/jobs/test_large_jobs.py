"""A job too large to be written by who accepted it, and its cancellation.

The last one stays behind unfinished: after everybody else, the cloud goes down with it.
"""

from collections.abc import Callable
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from stacks.stage import LOCAL
from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import SETTLED, RunningCloud
from tests.e2e.documents import a_job

WIDTH = 1_098  # more than whoever accepts a job writes itself
CANCELLED = 150  # `make bench-cancel` cancels 5,000
FIRST_TO_RUN = 6  # twice the slots of the worker
PATIENCE_SECONDS = 240
OTHER_SECONDS = 30
"""Within which another job is done; before, it waited for minutes behind the cancelled tasks."""


def test_hundreds_of_tasks_are_cancelled_and_no_more_are_started_than_there_are_slots(
    cloud: RunningCloud,
) -> None:
    """Another job, submitted right after the cancel, soon has a slot for its first task, too."""
    job_id = cloud.submit(a_job(*({"taskId": name} for name in _names(CANCELLED))))
    _with_completed(cloud, job_id, at_least=FIRST_TO_RUN)
    clock = SystemClock()

    with cloud.http as http:
        http.post(f"/jobs/{job_id}/cancel").raise_for_status()
    accepted_ms, asked_at = clock.now_ms(), clock.monotonic()
    other = cloud.settled(cloud.submit(a_job({"taskId": "quiet"})))
    other_took = clock.monotonic() - asked_at
    job = _once(cloud, job_id, lambda view: view["status"] in SETTLED)

    assert (job.status, other.status) == ("cancelled", "completed")
    assert {task.status for task in job.tasks} == {"cancelled", "completed"}
    assert len(_started_after(cloud, job_id, accepted_ms)) <= LOCAL.default_pool.slots
    assert other_took < OTHER_SECONDS


@pytest.mark.long
def test_more_than_a_thousand_tasks_fan_out_and_in_and_the_first_of_them_run(
    cloud: RunningCloud,
) -> None:
    job_id = cloud.submit(fan(WIDTH))

    job = _with_completed(cloud, job_id, at_least=FIRST_TO_RUN)

    assert job.total_tasks == len(job.tasks) == WIDTH + 2
    after = {task.task_id: task.depends_on for task in job.tasks}
    assert {after[name] for name in _names(WIDTH)} == {("first",)}
    assert set(after["last"]) == set(_names(WIDTH))
    assert {task.attempt for task in job.tasks if task.status == "completed"} == {1}


def _started_after(cloud: RunningCloud, job_id: str, moment_ms: int) -> list[str]:
    """Return the tasks that a child was started for after a moment."""
    table = cloud.table(cloud.output("infrastructure", "StateTableName"))
    job = Key("PK").eq(f"TENANT#local#JOB#{job_id}") & Key("SK").begins_with("TASK#part-")
    items, query = [], {"KeyConditionExpression": job, "ConsistentRead": True}
    while True:
        page = table.query(**query)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    return [
        item["SK"]
        for item in items
        if item.get("started_at_ms", 0) > moment_ms and item["outcome"].get("duration_ms")
    ]


def fan(width: int) -> dict[str, Any]:
    names = _names(width)
    return a_job(
        {"taskId": "first"},
        *({"taskId": name, "dependsOn": ["first"]} for name in names),
        {"taskId": "last", "dependsOn": names},
    )


def _names(width: int) -> list[str]:
    return [f"part-{number}" for number in range(width)]


def _with_completed(cloud: RunningCloud, job_id: str, *, at_least: int) -> JobView:
    return _once(cloud, job_id, lambda view: view["progress"].get("completed", 0) >= at_least)


def _once(cloud: RunningCloud, job_id: str, holds: Callable[[dict[str, Any]], bool]) -> JobView:
    clock = SystemClock()
    deadline = clock.monotonic() + PATIENCE_SECONDS
    with cloud.http as http:
        while True:
            view = http.get(f"/jobs/{job_id}").json()
            if holds(view):
                return JobView.model_validate(view)
            assert clock.monotonic() < deadline, view["progress"]
            clock.sleep(2)  # an answer describes all of them
