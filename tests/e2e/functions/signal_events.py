"""A signal that an event of the bus ends, so that its function makes all its calls."""

import json

from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job
from tests.e2e.patience import eventually


def end_a_signal_by_an_event(cloud: RunningCloud) -> None:
    """Put the event that a signal waits for on the bus."""
    pattern = {"source": ["shop"], "detail-type": ["Paid"]}
    signal = {"taskId": "paid", "kind": "signal", "name": None, "event": pattern}
    job_id = cloud.submit(a_job({"taskId": "before"}, signal | {"dependsOn": ["before"]}))
    eventually(lambda: cloud.task(job_id, "paid").status == "held" or None, "nothing is held")
    entry = {"EventBusName": "switchyard-local", "Source": "shop", "DetailType": "Paid"}
    detail = json.dumps({"tenantId": "local"})
    cloud.client("events").put_events(Entries=[entry | {"Detail": detail}])
    assert cloud.settled(job_id).status == "completed"
