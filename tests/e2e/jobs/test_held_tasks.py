"""A job that waits for a person, a time and a program, on the deployed system."""

import json
from functools import partial
from typing import Any

import httpx

from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually

TRIAGED = scripted(output={"severity": "high"})
CONDITION = '${{tasks.triage.output.severity}} == "{}"'


def test_conditions_approvals_signals_and_waits_move_a_job_on(cloud: RunningCloud) -> None:
    job_id = cloud.submit(
        a_job(
            {"taskId": "triage", **TRIAGED},
            {"taskId": "page", "dependsOn": ["triage"], "when": CONDITION.format("high")},
            {"taskId": "note", "dependsOn": ["triage"], "when": CONDITION.format("low")},
            held("gate", "approval", dependsOn=["page"], question="Go on?"),
            held("paid", "signal", dependsOn=["gate"]),
            held("pause", "wait", **{"for": "1s"}, dependsOn=["paid"]),
            {"taskId": "last", "dependsOn": ["pause", "note"], "rule": "none_failed"},
        )
    )
    shown = eventually(lambda: waiting(cloud, job_id, "gate"), "nobody is asked")
    assert shown["question"] == "Go on?"
    assert [parent["taskId"] for parent in shown["parents"]] == ["page"]
    assert (job_id, "gate") in listed(cloud)

    answer = decide(cloud, job_id, "gate", {"approved": True, "basis": shown["basis"]})
    assert (answer.status_code, answer.json()["output"]["approved"]) == (200, True)
    assert (job_id, "gate") not in listed(cloud)
    again = decide(cloud, job_id, "gate", {"approved": False, "basis": shown["basis"]})
    assert again.status_code == 409, again.text
    assert "was ended by a decision already" in again.json()["detail"]

    eventually(lambda: waiting(cloud, job_id, "paid"), "no signal is waited for")
    with cloud.http as http:
        given = http.post(f"/jobs/{job_id}/tasks/paid/signal", json={"value": {"euros": 5}})
    assert given.json()["output"] == {"euros": 5}

    eventually(lambda: has_ended(cloud, job_id, "pause"), "it waits for ever")
    job = cloud.settled(job_id)

    assert job.status == "completed"
    assert {task.task_id: task.status for task in job.tasks}["note"] == "skipped"
    assert cloud.task(job_id, "paid").output == {"euros": 5}
    assert cloud.task(job_id, "gate").attempt == 0


def test_an_event_of_the_bus_ends_the_signals_that_wait_for_it_once(cloud: RunningCloud) -> None:
    pattern = {
        "source": ["shop.orders"],
        "detail-type": ["Order Paid"],
        "detail": {"orderId": ["${tasks.order.output.id}"]},
    }
    job_id = cloud.submit(
        a_job(
            {"taskId": "order", **scripted(output={"id": "4711"})},
            held("paid", "signal", dependsOn=["order"], event=pattern),
            held("other", "signal", event=pattern | {"detail": {"orderId": ["4712"]}}),
        )
    )
    for task_id in ("paid", "other"):
        eventually(partial(waiting, cloud, job_id, task_id), "no event is waited for")
    assert (cloud.task(job_id, "paid").event or {})["detail-type"] == ["Order Paid"]
    paid = an_entry(tenantId="local", orderId="4711", sum=5)
    put(cloud, an_entry(tenantId="acme", orderId="4711"), an_entry(orderId="4711"), paid, paid)
    eventually(lambda: waiting(cloud, job_id, "paid") is None or None, "the event ends nothing")
    ended = cloud.task(job_id, "paid")
    assert ended.output == {"tenantId": "local", "orderId": "4711", "sum": 5}
    assert waiting(cloud, job_id, "other")

    put(cloud, an_entry(tenantId="local", orderId="4712"))
    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "paid") == ended
    assert subscriptions(cloud) == []


def an_entry(**detail: Any) -> dict[str, Any]:
    return {
        "EventBusName": "switchyard-local",
        "Source": "shop.orders",
        "DetailType": "Order Paid",
        "Detail": json.dumps(detail),
    }


def put(cloud: RunningCloud, *entries: dict[str, Any]) -> None:
    answer = cloud.client("events").put_events(Entries=list(entries))
    assert answer["FailedEntryCount"] == 0


def subscriptions(cloud: RunningCloud) -> list[str]:
    items = cloud.table("switchyard-local-state").scan()["Items"]
    return [item["SK"] for item in items if "#SIGNALS#" in item["PK"]]


def held(task_id: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"taskId": task_id, "kind": kind, "name": None, **more}


def listed(cloud: RunningCloud) -> list[tuple[str, str]]:
    with cloud.http as http:
        page = http.get("/approvals", params={"limit": 100}).json()
    return [(one["jobId"], one["taskId"]) for one in page["approvals"]]


def has_ended(cloud: RunningCloud, job_id: str, task_id: str) -> bool | None:
    """Look once more, as the sweeper does each minute."""
    cloud.sweep()
    return cloud.task(job_id, task_id).status == "completed" or None


def waiting(cloud: RunningCloud, job_id: str, task_id: str) -> dict[str, Any] | None:
    with cloud.http as http:
        answer = http.get(f"/jobs/{job_id}/tasks/{task_id}/decision")
    shown: dict[str, Any] = answer.json()
    return shown if shown.get("status") == "held" else None


def decide(cloud: RunningCloud, job_id: str, task_id: str, body: dict[str, Any]) -> httpx.Response:
    with cloud.http as http:
        return http.post(f"/jobs/{job_id}/tasks/{task_id}/decision", json=body)
