"""A work queue on the local cloud: created, filled, looked at and refused to be deleted."""

from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import DEFINITION

QUEUE = "default/e2e-queue"


def test_an_item_goes_through_a_queue(cloud: RunningCloud) -> None:
    with cloud.http as http:
        created = http.post("/queues", json={"name": QUEUE, "priority": "high", "lease": "30s"})
        assert created.status_code == 201
        http.put(
            "/task-definitions/in-queue", json=DEFINITION | {"queue": QUEUE}
        ).raise_for_status()
        item = {"definition": "in-queue", "input": {"n": 1}, "metadata": {"ticket": "42"}}
        put = http.post(f"/queues/{QUEUE}/items", json=item).json()
        task = http.get(f"/jobs/{put['jobId']}/tasks/{put['taskId']}").json()
        assert (task["queue"], task["priority"]) == (QUEUE, "high")
        assert (task["metadata"], "itemStatus" in task) == ({"ticket": "42"}, True)
        shown = http.get(f"/queues/{QUEUE}").json()
        assert shown["depth"] + shown["inFlight"] <= 1
        assert http.get(f"/queues/{QUEUE}/dead-letters").status_code == 200
        refused = http.delete(f"/queues/{QUEUE}")
        assert (refused.status_code, "the definition in-queue" in refused.text) == (409, True)
