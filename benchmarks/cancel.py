"""Measures a cancel on a local cloud of its own: of a wide job, while workers drain it.

The last line is JSON. `starts_after` counts the tasks that a child was started for after the cancel
was accepted, `cancel_seconds` is the time until the job has settled, and `other_waited_seconds` how
long a job of another tenant, submitted right after the cancel, waited for a slot. Times depend on
the machine and what else runs there: `cancel_to_start` divides that of the cancel by the time which
the same job took from its submission until all its tasks were queued. `calls_per_task` are the
actions that the functions and the worker asked of AWS from the cancel to the end, an action for
each item or entry.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from benchmarks.output import say
from stacks.stage import LOCAL
from switchyard.adapters.system import SystemClock
from switchyard.bootstrap import stage_keys
from switchyard.domain.text import in_slices
from tests.e2e.conftest import SETTLED, RunningCloud, running
from tests.e2e.documents import DEFINITION

TASK_MS: Final = 500
OTHER: Final = "quiet"
PATIENCE_SECONDS: Final = 900.0
KEYS_AT_ONCE: Final = 100
LOOK_EVERY: Final = 0.5

clock = SystemClock()


@dataclass(frozen=True)
class Api:
    http: httpx.Client

    def submit(self, task_ids: Sequence[str]) -> str:
        self.http.put("/task-definitions/do", json=DEFINITION).raise_for_status()
        job = {"name": "wide", "tasks": [{"taskId": one, "name": "do"} for one in task_ids]}
        accepted = self.http.post("/jobs", json=job)
        accepted.raise_for_status()
        job_id: str = accepted.json()["jobId"]
        return job_id

    def cancel(self, job_id: str) -> int:
        """Return when it was accepted, by the wall clock."""
        self.http.post(f"/jobs/{job_id}/cancel").raise_for_status()
        return clock.now_ms()


def main(tasks: int) -> int:
    with tempfile.TemporaryDirectory() as name, running(Path(name), thinks_ms=TASK_MS) as cloud:
        figures = measured(cloud, tasks)
    say(json.dumps(figures))
    return 0


def measured(cloud: RunningCloud, tasks: int) -> dict[str, Any]:
    api, other = Api(cloud.http), api_of_another_tenant(cloud)
    task_ids = [f"t-{number:05}" for number in range(tasks)]
    began = clock.monotonic()
    job_id = api.submit(task_ids)
    wait_until_queued(cloud, job_id, task_ids)
    start_took = clock.monotonic() - began
    say(f"A job of {tasks} tasks was queued {start_took:.1f} s after it was submitted")
    before = len(cloud.calls.read_text().splitlines())
    say("It is cancelled")
    began = clock.monotonic()
    accepted_ms = api.cancel(job_id)
    submitted_ms = clock.now_ms()
    other_id = other.submit(["t-0"])
    took = wait_for_job(cloud, "local", job_id) - began
    say(f"  settled after {took:.1f} s")
    wait_for_job(cloud, OTHER, other_id)
    waited = (started_at_ms(cloud, OTHER, other_id)[0] - submitted_ms) / 1000
    say(f"  the other tenant's task started {waited:.1f} s after it was submitted")
    wait_until_drained(cloud)
    drained = clock.monotonic() - began
    say(f"  the last wake-up was deleted after {drained:.1f} s")
    return {
        "tasks": tasks,
        "slots": LOCAL.default_pool.slots,
        **starts_after(cloud, job_id, accepted_ms),
        "start_seconds": round(start_took, 1),
        "cancel_seconds": round(took, 1),
        "cancel_to_start": round(took / start_took, 2),
        "other_waited_seconds": round(waited, 1),
        "drained_seconds": round(drained, 1),
        "calls_per_task": calls_per_task(cloud, before, tasks),
    }


def api_of_another_tenant(cloud: RunningCloud) -> Api:
    with stage_keys("local", **cloud.aws) as ring:
        key = ring.issue(OTHER, label="bench")
    url, timeout = cloud.endpoint.api_url, cloud.http.timeout
    return Api(httpx.Client(base_url=url, headers={"x-api-key": key}, timeout=timeout))


def starts_after(cloud: RunningCloud, job_id: str, accepted_ms: int) -> dict[str, float]:
    late = [moment for moment in started_at_ms(cloud, "local", job_id) if moment > accepted_ms]
    last = round((max(late) - accepted_ms) / 1000, 1) if late else 0
    return {"starts_after": len(late), "last_start_after_seconds": last}


def calls_per_task(cloud: RunningCloud, before: int, tasks: int) -> float:
    calls = calls_since(cloud, before)
    for what, count in sorted(calls.items()):
        say(f"  {count / tasks:7.3f}  {what}")
    return round(calls.total() / tasks, 2)


def wait_until_queued(cloud: RunningCloud, job_id: str, task_ids: Sequence[str]) -> None:
    """Wait until none of the tasks is still to be sent: workers have begun with the first.

    Each task is read by its key, and not again once it was sent. A query of the local cloud looks
    at every item of the job for each page, so that waiting with queries would be most of the load.
    """
    for some in in_slices(task_ids, KEYS_AT_ONCE):
        _wait_until(partial(_are_sent, cloud, job_id, some), "queued")


def _are_sent(cloud: RunningCloud, job_id: str, task_ids: Sequence[str]) -> bool:
    table = cloud.output("infrastructure", "StateTableName")
    partition = {"S": _partition("local", job_id)}
    keys = [{"PK": partition, "SK": {"S": f"TASK#{task_id}"}} for task_id in task_ids]
    request = {table: {"Keys": keys, "ConsistentRead": True}}
    found = cloud.client("dynamodb").batch_get_item(RequestItems=request)["Responses"][table]
    sent = [item for item in found if item["state"]["S"] not in {"WAITING", "READY"}]
    return len(sent) == len(task_ids)


def wait_until_drained(cloud: RunningCloud) -> None:
    url = cloud.output("infrastructure", "TaskQueueUrl")
    _wait_until(lambda: sum(cloud.messages(url)) == 0, "drained")


def wait_for_job(cloud: RunningCloud, tenant: str, job_id: str) -> float:
    """Wait until it has settled; return when that was seen."""

    def has_settled() -> bool:
        found = cloud.client("dynamodb").get_item(
            TableName=cloud.output("infrastructure", "StateTableName"),
            Key={"PK": {"S": _partition(tenant, job_id)}, "SK": {"S": "JOB"}},
            ConsistentRead=True,
        )  # a query would read all tasks of the job on the local cloud, and slow the cancel down
        return found["Item"]["state"]["S"].lower() in SETTLED

    _wait_until(has_settled, "settled")
    return clock.monotonic()


def started_at_ms(cloud: RunningCloud, tenant: str, job_id: str) -> list[int]:
    """Return the claim times of attempts that a child was started for: those took some time."""
    items = _items(cloud, tenant, job_id, "TASK#")
    return [int(item["started_at_ms"]["N"]) for item in items if _has_run(item)]


def _has_run(item: Mapping[str, Any]) -> bool:
    duration = item.get("outcome", {"M": {}})["M"].get("duration_ms", {"N": "0"})
    return "started_at_ms" in item and duration["N"] != "0"


def calls_since(cloud: RunningCloud, before: int) -> Counter[str]:
    """Return the calls of the functions to AWS, by function and action."""
    lines = cloud.calls.read_text().splitlines()[before:]
    return Counter(" ".join(json.loads(line)[:2]) for line in lines)


def _items(cloud: RunningCloud, tenant: str, job_id: str, prefix: str) -> list[dict[str, Any]]:
    pages = cloud.client("dynamodb").get_paginator("query")
    found = pages.paginate(
        TableName=cloud.output("infrastructure", "StateTableName"),
        KeyConditionExpression="PK = :job AND begins_with(SK, :prefix)",
        ExpressionAttributeValues={
            ":job": {"S": _partition(tenant, job_id)},
            ":prefix": {"S": prefix},
        },
        ConsistentRead=True,
    )
    return [item for page in found for item in page["Items"]]


def _partition(tenant: str, job_id: str) -> str:
    return f"TENANT#{tenant}#JOB#{job_id}"


def _wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = clock.monotonic() + PATIENCE_SECONDS
    while not holds():
        if clock.monotonic() > deadline:
            raise SystemExit(f"not {what} within {PATIENCE_SECONDS:g} s")
        clock.sleep(LOOK_EVERY)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000))
