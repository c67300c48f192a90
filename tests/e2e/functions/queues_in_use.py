"""Work queues as every function meets them, so that each makes all its calls about them."""

import json

import httpx

from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.failures.foreign_messages import define, send, settled
from tests.e2e.patience import eventually

BUILDS = "default/builds"
SMALL = "drones/small"
LIMITED = "default/one-at-a-time"


def all_kinds_of_queues(cloud: RunningCloud) -> None:
    """Let tasks of each origin name a queue: put, redriven, nested, added and adopted."""
    with cloud.http as http:
        for name in (BUILDS, SMALL):
            http.post("/queues", json={"name": name, "maxAttempts": 1}).raise_for_status()
        http.get("/queues").raise_for_status()
        http.get("/pools").raise_for_status()
        _put_and_look(cloud, http)
        _redrive(cloud, http)
        one_at_a_time = {"name": LIMITED, "concurrency": {"limit": 1}}
        http.post("/queues", json=one_at_a_time).raise_for_status()
    _limit(cloud)
    _nest_and_add(cloud)
    _adopt(cloud)
    with cloud.http as http:
        change = {"priority": "low", "maxAttempts": None}
        http.patch(f"/queues/{SMALL}", json=change).raise_for_status()
        http.delete(f"/queues/{SMALL}").raise_for_status()


def _put_and_look(cloud: RunningCloud, http: httpx.Client) -> None:
    """Put an item that stays for a while: what is in a queue is counted one by one."""
    define(cloud, "do")
    slow = {"definition": "do", **scripted(delayMs=60_000)}
    put = http.post(f"/queues/{SMALL}/items", json=slow, headers={"Idempotency-Key": "slow"})
    job_id = put.raise_for_status().json()["jobId"]
    eventually(lambda: _items_in(SMALL, http) or None, "the item is not in its queue")
    assert http.delete(f"/queues/{SMALL}").status_code == httpx.codes.CONFLICT
    http.post(f"/jobs/{job_id}/cancel").raise_for_status()
    assert cloud.settled(job_id).status == "cancelled"


def _items_in(queue: str, http: httpx.Client) -> int:
    shown = http.get(f"/queues/{queue}").raise_for_status().json()
    return int(shown["depth"]) + int(shown["inFlight"])


def _redrive(cloud: RunningCloud, http: httpx.Client) -> None:
    """Redrive a dead letter with the latest version of its definition."""
    broken = scripted(fail={"category": "validation", "message": "no", "times": 1})
    job_id = cloud.submit(a_job({"taskId": "broken", "queue": SMALL, **broken}))
    assert cloud.settled(job_id).status == "failed"
    http.get(f"/queues/{SMALL}/dead-letters").raise_for_status()
    http.post(f"/jobs/{job_id}/redrive", json={"latest": True}).raise_for_status()
    cloud.settled(job_id)


def _limit(cloud: RunningCloud) -> None:
    """Run three tasks under a limit of one: they take places, wait for them and are let in."""
    tasks = [{"taskId": name, "queue": LIMITED, **scripted(delayMs=1_500)} for name in "abc"]
    job_id = cloud.submit(a_job(*tasks))
    assert cloud.settled(job_id).status == "completed"


def _nest_and_add(cloud: RunningCloud) -> None:
    document = a_job({"taskId": "nested", "kind": "job", "name": "two"}, {"taskId": "first"})
    tasks = [{"taskId": "inner", "name": "do", "queue": BUILDS}]
    document["definitions"]["two"] = {"kind": "job", "tasks": tasks}
    job_id = cloud.submit(document)
    added = {"taskId": "more", "name": "do", "queue": BUILDS, "dependsOn": ["nested"]}
    with cloud.http as http:
        http.post(f"/jobs/{job_id}/tasks", json={"tasks": [added]}).raise_for_status()
    assert cloud.settled(job_id).status == "completed"


def _adopt(cloud: RunningCloud) -> None:
    """Let a worker, and the function of the dead letters, adopt what names a queue."""
    define(cloud, "queued", queue=BUILDS)
    body = json.dumps({"name": "queued", "input": {}})
    for request_id, queue in (("queued-order", "task-queue"), ("queued-late", "task-queue-dlq")):
        send(cloud, body, queue=queue, requestId=request_id)
        assert settled(cloud, request_id)["state"] == "COMPLETED"
