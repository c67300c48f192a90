"""What a health check reports to people and to the event log."""

from dataclasses import replace

import pytest

from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.alerts.subjects import HealthSubject
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import PresentWorker
from switchyard.usecases.health.watch_health import MAX_LISTED
from tests.builders import TENANT
from tests.fakes.harnesses.checked_harness import CheckedHarness

MINUTE = 60.0


@pytest.fixture
def harness() -> CheckedHarness:
    return CheckedHarness()


def test_a_check_is_emitted_with_its_counts_and_the_worst_task_first(
    harness: CheckedHarness,
) -> None:
    stuck = harness.start()
    harness.clock.advance(5 * MINUTE)
    late = harness.start()
    harness.clock.advance(6 * MINUTE)
    going_round = harness.start()
    harness.beat(going_round, repeats=10)
    harness.watch().run()
    [said] = harness.emitted()
    assert said.summary.model_dump() == {
        "total_processing": 3,
        "healthy": 0,
        "warning": 1,
        "critical": 1,
        "overtime": 0,
        "not_progressing": 1,
    }
    assert [(task.request_id, task.health) for task in said.tasks] == [
        (stuck.ref.request_id, "critical"),
        (going_round.ref.request_id, "not_progressing"),
        (late.ref.request_id, "warning"),
    ]
    assert said.tasks[0].model_dump(by_alias=True) == {
        "requestId": stuck.ref.request_id,
        "health": "critical",
        "elapsed": 660_000,
        "timeSinceLastEvent": 660_000,
        "lastEventType": "Task Processing Started",
        "workerId": "worker-1",
    }


def test_the_event_has_the_envelope_of_all_events(harness: CheckedHarness) -> None:
    harness.start()
    harness.watch().run()
    [event] = harness.memory.bus.events
    detail = event.detail()
    assert detail["GSI1PK"] == "STORE#health-check"
    assert detail["GSI4PK"] == "EVENT#Task Health Check"
    assert (detail["tenantId"], detail["timestamp"]) == (TENANT, harness.clock.now_ms())


def test_each_tenant_gets_an_event_of_its_own_tasks_only(harness: CheckedHarness) -> None:
    mine, theirs = harness.start(), harness.start(tenant="umbrella")
    harness.watch(tenant="default").run()
    said = {event.tenant_id: event for event in harness.memory.bus.events}
    assert said.keys() == {TENANT, "umbrella", "default"}
    assert len({event.event_id for event in said.values()}) == 3
    listed = dict(zip(sorted(said), harness.emitted(), strict=True))
    assert [task.request_id for task in listed[TENANT].tasks] == [mine.ref.request_id]
    assert [task.request_id for task in listed["umbrella"].tasks] == [theirs.ref.request_id]
    assert listed["default"].summary.total_processing == 0


def test_a_check_that_found_nothing_is_in_the_log_of_the_stage(
    harness: CheckedHarness,
) -> None:
    harness.watch(tenant="default").run()
    harness.watch(tenant=None).run()
    [event] = harness.memory.bus.events
    assert event.tenant_id == "default"


def test_of_more_than_five_hundred_tasks_the_worst_are_listed_and_all_are_counted(
    harness: CheckedHarness,
) -> None:
    stuck = [harness.start() for _ in range(2)]
    harness.clock.advance(11 * MINUTE)
    for _ in range(MAX_LISTED):
        harness.start()
    harness.watch().run()
    [said] = harness.emitted()
    assert len(said.tasks) == MAX_LISTED == 500
    assert {task.request_id for task in said.tasks[:2]} == {s.ref.request_id for s in stuck}
    assert (said.summary.total_processing, said.summary.healthy) == (502, 500)


def test_every_check_is_reported_healthy_or_not(harness: CheckedHarness) -> None:
    harness.start()
    report, emitted = harness.watch().run()
    assert (len(report.tasks), emitted.status) == (1, PublishStatus.POSTED)
    harness.clock.advance(11 * MINUTE)
    harness.watch().run()
    assert [incident.open for incident in harness.listener.heard] == [False, True]
    assert {incident.subject for incident in harness.listener.heard} == {HealthSubject()}


def test_a_check_is_in_the_log_even_if_it_could_not_be_reported(harness: CheckedHarness) -> None:
    harness.start()
    harness.listener.outage = Unavailable("the state table is down")
    with pytest.raises(Unavailable, match="the state table is down"):
        harness.watch().run()
    assert len(harness.emitted()) == 1


def test_workers_that_are_sick_and_still_present_are_reported(harness: CheckedHarness) -> None:
    well = PresentWorker(
        worker_id="w-1",
        started_at_ms=0,
        seen_at_ms=harness.clock.now_ms(),
        slots=3,
        busy=0,
        version="1",
    )
    harness.memory.presence.seen(well)
    harness.memory.presence.seen(replace(well, worker_id="w-2", sick="no space left"))
    harness.memory.presence.seen(replace(well, worker_id="w-3", sick="gone", seen_at_ms=0))
    report, _ = harness.watch().run()
    assert [worker.worker_id for worker in report.sick_workers] == ["w-2"]
    assert harness.listener.heard[-1].title == "1 sick worker"
