"""What goes wrong is seen, on the deployed system."""

import pytest

from tests.e2e.conftest import BEAT_MS, RunningCloud
from tests.e2e.documents import DEFINITION, a_job, scripted

LEASE_MS = 45_000


def test_a_failed_task_fails_its_job_and_skips_what_follows(cloud: RunningCloud) -> None:
    fail = {"category": "validation", "message": "no such store"}
    job_id = cloud.submit(
        a_job(
            {"taskId": "a", **scripted(fail=fail)},
            {"taskId": "b", "dependsOn": ["a"]},
            {"taskId": "c"},
        )
    )
    job = cloud.settled(job_id)
    assert job.status == "failed"
    assert {t.task_id: t.status for t in job.tasks} == {
        "a": "failed",
        "b": "skipped",
        "c": "completed",
    }
    failed = cloud.task(job_id, "a")
    assert failed.error is not None
    assert "no such store" in failed.error
    assert cloud.blob(failed, "logs/summary.log")


def test_a_passing_failure_is_retried(cloud: RunningCloud) -> None:
    fail = {"category": "network", "message": "connection reset", "times": 1}
    job_id = cloud.submit(a_job({"taskId": "a", **scripted(fail=fail)}))
    job = cloud.settled(job_id)
    assert job.status == "completed"
    assert job.tasks[0].attempt == 2


def test_the_lease_of_a_long_task_is_renewed(cloud: RunningCloud) -> None:
    job_id = cloud.submit(a_job({"taskId": "a", **scripted(delayMs=2500)}))
    job = cloud.settled(job_id)
    table = cloud.table(cloud.output("infrastructure", "StateTableName"))
    key = {"PK": f"TENANT#local#JOB#{job_id}", "SK": "TASK#a"}
    item = table.get_item(Key=key, ConsistentRead=True)["Item"]
    assert (job.status, job.tasks[0].attempt) == ("completed", 1)
    assert item["lease_until_ms"] >= item["started_at_ms"] + LEASE_MS + BEAT_MS


def test_an_output_too_large_for_an_item_travels_through_the_bucket(cloud: RunningCloud) -> None:
    schema = {
        "type": "object",
        "properties": {"text": {"const": "x" * 20_000}},
        "required": ["text"],
    }
    document = a_job({"taskId": "a", "name": "large"}, {"taskId": "b", "dependsOn": ["a"]})
    document["definitions"]["large"] = DEFINITION | {"outputSchema": schema}
    job_id = cloud.submit(document)
    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "a").output == {"text": "x" * 20_000}
    assert "x" * 20_000 in cloud.prompt(cloud.task(job_id, "b"))


def test_an_input_too_large_for_an_item_travels_through_the_bucket(cloud: RunningCloud) -> None:
    job_id = cloud.submit(a_job({"taskId": "a", "input": {"text": "y" * 20_000}}))
    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "a").input == {"text": "y" * 20_000}
    assert "y" * 20_000 in cloud.prompt(cloud.task(job_id, "a"))


@pytest.mark.parametrize(
    ("key", "status"),
    [(None, 401), ("wrong", 403), ("swy.local.guess", 403)],
)
def test_nobody_comes_in_without_a_key(cloud: RunningCloud, key: str | None, status: int) -> None:
    headers = {} if key is None else {"x-api-key": key}
    with cloud.http_with(headers) as http:
        for method, path in (("GET", "/jobs"), ("POST", "/jobs"), ("GET", "/task-definitions")):
            assert http.request(method, path).status_code == status


def test_bad_jobs_are_refused_with_every_problem(cloud: RunningCloud) -> None:
    with cloud.http as http:
        answer = http.post(
            "/jobs",
            json={
                "tasks": [
                    {"taskId": "a", "name": "nobody", "dependsOn": ["b"]},
                    {"taskId": "b", "name": "nobody", "dependsOn": ["a"]},
                ]
            },
        )
    assert answer.status_code == 400
    detail = answer.json()["detail"]
    assert "→" in detail
    assert detail.count("not a registered task definition") == 2
