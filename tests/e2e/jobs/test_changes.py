"""Jobs that people change while they run and after they ended, on the deployed system."""

import json
from typing import Any

import psutil

from switchyard.adapters.system import SystemClock
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually
from tests.e2e.workers import until_gone

SLOTS = 3
LEASE_SECONDS = 45
"""After which a worker that had not looked would have lost the task."""


def test_a_cancelled_job_is_settled_within_a_renewal_and_its_children_are_gone(
    cloud: RunningCloud,
) -> None:
    long = scripted(delayMs=120_000)
    names = [f"t{number}" for number in range(SLOTS + 2)]
    job_id = cloud.submit(
        a_job(*({"taskId": n, **long} for n in names), {"taskId": "after", "dependsOn": names})
    )
    running = eventually(lambda: _running(cloud, job_id), "nothing runs")
    children = _children_of(cloud, job_id)
    clock = SystemClock()

    asked_at = clock.monotonic()
    _post(cloud, f"/jobs/{job_id}/cancel")
    job = cloud.settled(job_id)
    took = clock.monotonic() - asked_at

    assert running >= SLOTS
    assert children
    assert job.status == "cancelled"
    assert {task.status for task in job.tasks} == {"cancelled"}
    assert until_gone(children) == []
    assert took < LEASE_SECONDS


def test_one_task_is_cancelled_and_what_follows_it_is_skipped(cloud: RunningCloud) -> None:
    job_id = cloud.submit(
        a_job(
            {"taskId": "a", **scripted(delayMs=60_000)},
            {"taskId": "b", "dependsOn": ["a"]},
            {"taskId": "c"},
        )
    )
    eventually(lambda: _is(cloud, job_id, "a", "processing"), "a does not run")

    _post(cloud, f"/jobs/{job_id}/tasks/a/cancel")
    job = cloud.settled(job_id)

    assert job.status == "cancelled"
    assert {t.task_id: t.status for t in job.tasks} == {
        "a": "cancelled",
        "b": "skipped",
        "c": "completed",
    }


def test_a_redriven_task_completes_the_job_and_nothing_that_was_done_runs_again(
    cloud: RunningCloud,
) -> None:
    fail = {"category": "validation", "message": "no such store"}
    job_id = cloud.submit(
        a_job(
            {"taskId": "first"},
            {"taskId": "beside"},
            {"taskId": "middle", "dependsOn": ["first"], **scripted(fail=fail)},
            {"taskId": "last", "dependsOn": ["middle", "beside"]},
        )
    )
    assert cloud.settled(job_id).status == "failed"

    redriven = {"tasks": ["middle"], "input": {"store": "another"}}
    eventually(lambda: _accepted(cloud, job_id, redriven), "the redrive is not accepted")
    job = eventually(lambda: _ended(cloud, job_id, run=2), "the redriven job does not end")

    assert job == "completed"
    assert cloud.task(job_id, "middle").input == {"store": "another"}
    assert _starts(cloud, job_id) == {"first": [1], "beside": [1], "middle": [1, 2], "last": [2]}


def test_added_tasks_run_with_what_the_others_made(cloud: RunningCloud) -> None:
    job_id = cloud.submit(a_job({"taskId": "a"}, {"taskId": "held", **scripted(delayMs=120_000)}))
    eventually(lambda: _is(cloud, job_id, "a", "completed"), "a does not end")

    added = _post(
        cloud,
        f"/jobs/{job_id}/tasks",
        {
            "tasks": [
                {"taskId": "b", "name": "do", "dependsOn": ["a"]},
                {"taskId": "c", "name": "do", "dependsOn": ["b", "a"]},
            ]
        },
    )
    eventually(lambda: _is(cloud, job_id, "c", "completed"), "c does not end")
    _post(cloud, f"/jobs/{job_id}/tasks/held/cancel")
    job = cloud.settled(job_id)

    assert (added["addedTasks"], added["immediatelyReady"]) == (["b", "c"], ["b"])
    assert added["totalTasksNow"] == job.total_tasks == 4
    assert {t.task_id: t.status for t in job.tasks} == {
        "a": "completed",
        "held": "cancelled",
        "b": "completed",
        "c": "completed",
    }
    assert {t.task_id: set(t.depends_on) for t in job.tasks}["c"] == {"a", "b"}
    prompt = cloud.prompt(cloud.task(job_id, "c"))
    for name in ("a", "b"):
        made = cloud.task(job_id, name).output
        assert made
        assert json.dumps(made)[1:-1] in prompt


def test_a_reference_brings_a_value_of_an_ancestor_into_an_input(cloud: RunningCloud) -> None:
    made = {"products": [{"name": "amber candle"}]}
    schema = {"type": "object", "properties": {"products": {"const": made["products"]}}}
    document = a_job(
        {"taskId": "scrape", "name": "make"},
        {"taskId": "between", "dependsOn": ["scrape"]},
        {
            "taskId": "tell",
            "dependsOn": ["between"],
            "input": {"about": "the ${tasks.scrape.output.products[0].name}"},
        },
        {
            "taskId": "lost",
            "dependsOn": ["between"],
            "input": "${tasks.scrape.output.products[7].name}",
        },
    )
    schema["required"] = ["products"]
    document["definitions"]["make"] = {
        "description": "Make it.",
        "tag": "tester",
        "outputSchema": schema,
    }
    job_id = cloud.submit(document)
    job = cloud.settled(job_id)

    assert {t.task_id: t.status for t in job.tasks} == {
        "scrape": "completed",
        "between": "completed",
        "tell": "completed",
        "lost": "failed",
    }
    assert "the amber candle" in cloud.prompt(cloud.task(job_id, "tell"))
    lost = cloud.task(job_id, "lost")
    assert lost.error is not None
    assert "${tasks.scrape.output.products[7].name}" in lost.error
    assert lost.attempt == 1


def _post(cloud: RunningCloud, path: str, body: Any = None) -> Any:
    with cloud.http as http:
        answer = http.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def _accepted(cloud: RunningCloud, job_id: str, redriven: Any) -> bool | None:
    """The events of a job that has just ended are still being emitted for a moment."""
    with cloud.http as http:
        answer = http.post(f"/jobs/{job_id}/redrive", json=redriven)
    assert answer.status_code in {202, 409}, answer.text
    return True if answer.status_code == 202 else None


def _ended(cloud: RunningCloud, job_id: str, *, run: int) -> str | None:
    with cloud.http as http:
        view = http.get(f"/jobs/{job_id}").json()
    over = view["run"] == run and view["status"] in {"completed", "failed", "cancelled"}
    return view["status"] if over else None


def _running(cloud: RunningCloud, job_id: str) -> int | None:
    with cloud.http as http:
        progress = http.get(f"/jobs/{job_id}").json()["progress"]
    running = progress.get("processing", 0)
    return running if running >= SLOTS else None


def _is(cloud: RunningCloud, job_id: str, task_id: str, status: str) -> bool | None:
    return True if cloud.task(job_id, task_id).status == status else None


def _children_of(cloud: RunningCloud, job_id: str) -> list[psutil.Process]:
    pid = cloud.local.status().worker_pid
    assert pid is not None
    return [
        process
        for process in psutil.Process(pid).children(recursive=True)
        if job_id in process.cwd()
    ]


def _starts(cloud: RunningCloud, job_id: str) -> dict[str, list[int]]:
    """The runs in which each task was started, by its events."""

    def runs(task_id: str) -> list[int]:
        reported = cloud.named_job(job_id, task_id)
        started = [e for e in reported if e["eventType"] == "Task Processing Started"]
        return [int(event["properties"]["run"]) for event in started]

    return {name: runs(name) for name in ("first", "beside", "middle", "last")}
