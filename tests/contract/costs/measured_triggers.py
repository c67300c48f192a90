"""What is paid for a trigger of 800 bytes, for its run, a signal by event and a work queue."""

from switchyard.contracts.triggers import TriggerRun
from switchyard.contracts.wire import instant
from switchyard.domain.scheduling.work_queues import Concurrency, WorkQueue
from switchyard.domain.signals.subscriptions import EventFilter, Subscription
from tests.contract.costs.metered_harness import JOB, NOW_MS, TENANT, MeteredHarness
from tests.fakes.triggers import EVENT_ID, a_trigger

TRIGGER = a_trigger(description="d" * 500)
SIGNAL = Subscription(
    ref=JOB.task("wait-for-the-payment-of-the-order"),
    run=1,
    filter=EventFilter(
        sources=("shop.orders",), detail_types=("Order Paid",), detail={"orderId": ["4711-17"]}
    ),
    since_ms=NOW_MS,
    until_ms=NOW_MS + 7 * 24 * 3_600_000,
)
RUN = TriggerRun(at=instant(NOW_MS), event_id=EVENT_ID, job_id=JOB.job_id)


QUEUE = WorkQueue(
    tenant=TENANT,
    name="default/builds",
    lease_ms=60_000,
    max_attempts=2,
    concurrency=Concurrency(limit=5, key="${input.repository}"),
    created_by="0123456789ab",
    created_at_ms=NOW_MS,
)


def create_queue(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.queues.create(QUEUE))


def change_queue(harness: MeteredHarness) -> int:
    harness.queues.create(QUEUE)
    return harness.cost(lambda: harness.queues.change(QUEUE))


def delete_queue(harness: MeteredHarness) -> int:
    harness.queues.create(QUEUE)
    return harness.cost(lambda: harness.queues.delete(QUEUE, now_ms=NOW_MS))


def put_trigger(harness: MeteredHarness) -> int:
    """Refused as a change, then written as a new one."""
    return harness.cost(lambda: _put(harness))


def change_trigger(harness: MeteredHarness) -> int:
    _put(harness)
    return harness.cost(lambda: _put(harness))


def switch_trigger(harness: MeteredHarness) -> int:
    _put(harness)
    return harness.cost(
        lambda: harness.triggers.switch(TENANT, TRIGGER.name, on=False, now_ms=NOW_MS)
    )


def note_run(harness: MeteredHarness) -> int:
    _put(harness)
    return harness.cost(lambda: harness.triggers.note_run(TENANT, TRIGGER.name, RUN))


def remove_trigger(harness: MeteredHarness) -> int:
    _put(harness)
    return harness.cost(lambda: harness.triggers.remove(TENANT, TRIGGER.name, now_ms=NOW_MS))


def subscribe(harness: MeteredHarness) -> int:
    return harness.cost(lambda: harness.subscriptions.put(SIGNAL))


def unsubscribe(harness: MeteredHarness) -> int:
    harness.subscriptions.put(SIGNAL)
    return harness.cost(lambda: harness.subscriptions.remove(SIGNAL))


def _put(harness: MeteredHarness) -> None:
    harness.triggers.put(TENANT, TRIGGER, now_ms=NOW_MS)
