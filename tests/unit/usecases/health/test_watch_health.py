"""What a health check tells people and the log."""

from dataclasses import replace

import pytest

from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.alerts.subjects import HealthSubject
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.presence import PresentWorker
from switchyard.usecases.health.watch_health import MAX_LISTED
from tests.builders import TENANT
from tests.fakes.checked_yard import CheckedYard

MINUTE = 60.0


@pytest.fixture
def yard() -> CheckedYard:
    return CheckedYard()


def test_a_check_is_told_with_its_counts_and_the_worst_task_first(yard: CheckedYard) -> None:
    stuck = yard.start()
    yard.clock.advance(5 * MINUTE)
    late = yard.start()
    yard.clock.advance(6 * MINUTE)
    going_round = yard.start()
    yard.beat(going_round, repeats=10)
    yard.watch().run()
    [said] = yard.told()
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


def test_the_event_has_the_envelope_of_all_events(yard: CheckedYard) -> None:
    yard.start()
    yard.watch().run()
    [event] = yard.memory.bus.events
    detail = event.detail()
    assert detail["GSI1PK"] == "STORE#health-check"
    assert detail["GSI4PK"] == "EVENT#Task Health Check"
    assert (detail["tenantId"], detail["timestamp"]) == (TENANT, yard.clock.now_ms())


def test_each_tenant_is_told_of_its_own_tasks_only(yard: CheckedYard) -> None:
    mine, theirs = yard.start(), yard.start(tenant="umbrella")
    yard.watch(tenant="default").run()
    said = {event.tenant_id: event for event in yard.memory.bus.events}
    assert said.keys() == {TENANT, "umbrella", "default"}
    assert len({event.event_id for event in said.values()}) == 3
    listed = dict(zip(sorted(said), yard.told(), strict=True))
    assert [task.request_id for task in listed[TENANT].tasks] == [mine.ref.request_id]
    assert [task.request_id for task in listed["umbrella"].tasks] == [theirs.ref.request_id]
    assert listed["default"].summary.total_processing == 0


def test_a_check_that_found_nothing_is_told_in_the_log_of_the_stage(yard: CheckedYard) -> None:
    yard.watch(tenant="default").run()
    yard.watch(tenant=None).run()
    [event] = yard.memory.bus.events
    assert event.tenant_id == "default"


def test_of_more_than_five_hundred_tasks_the_worst_are_listed_and_all_are_counted(
    yard: CheckedYard,
) -> None:
    stuck = [yard.start() for _ in range(2)]
    yard.clock.advance(11 * MINUTE)
    for _ in range(MAX_LISTED):
        yard.start()
    yard.watch().run()
    [said] = yard.told()
    assert len(said.tasks) == MAX_LISTED == 500
    assert {task.request_id for task in said.tasks[:2]} == {s.ref.request_id for s in stuck}
    assert (said.summary.total_processing, said.summary.healthy) == (502, 500)


def test_people_are_told_what_is_whether_it_is_well_or_not(yard: CheckedYard) -> None:
    yard.start()
    report, told = yard.watch().run()
    assert (len(report.tasks), told.status) == (1, PublishStatus.POSTED)
    yard.clock.advance(11 * MINUTE)
    yard.watch().run()
    assert [incident.open for incident in yard.listener.heard] == [False, True]
    assert {incident.subject for incident in yard.listener.heard} == {HealthSubject()}


def test_what_was_seen_is_in_the_log_even_if_nobody_could_be_told(yard: CheckedYard) -> None:
    yard.start()
    yard.listener.outage = Unavailable("the state table is down")
    with pytest.raises(Unavailable, match="the state table is down"):
        yard.watch().run()
    assert len(yard.told()) == 1


def test_people_are_told_of_workers_that_are_sick_and_still_there(yard: CheckedYard) -> None:
    well = PresentWorker(
        worker_id="w-1",
        started_at_ms=0,
        seen_at_ms=yard.clock.now_ms(),
        slots=3,
        busy=0,
        version="1",
    )
    yard.memory.presence.seen(well)
    yard.memory.presence.seen(replace(well, worker_id="w-2", sick="no space left"))
    yard.memory.presence.seen(replace(well, worker_id="w-3", sick="gone", seen_at_ms=0))
    report, _ = yard.watch().run()
    assert [worker.worker_id for worker in report.sick_workers] == ["w-2"]
    assert yard.listener.heard[-1].title == "1 sick worker"
