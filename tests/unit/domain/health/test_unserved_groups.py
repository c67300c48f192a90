"""Tasks of a group without a pool are found after ten minutes."""

from switchyard.domain.alerts.stage_incidents import health_incident
from switchyard.domain.health.health import HealthReport
from switchyard.domain.health.unserved import UNSERVED_AFTER_MS, unserved_groups
from tests.builders import NOW_MS, a_task

LONG_AGO = NOW_MS - UNSERVED_AFTER_MS


def test_tasks_that_nobody_can_serve_are_counted_by_group() -> None:
    tasks = [
        a_task("a", queue="build/nightly", ready_at_ms=LONG_AGO),
        a_task("b", queue="build", ready_at_ms=LONG_AGO - 1),
        a_task("c", queue="build", ready_at_ms=NOW_MS),
        a_task("d", ready_at_ms=LONG_AGO),
    ]
    (found,) = unserved_groups(tasks, {"default"}, now_ms=NOW_MS)
    assert (found.group, found.tasks, found.first.task_id) == ("build", 2, "b")


def test_people_hear_of_it() -> None:
    tasks = [a_task("a", queue="build", ready_at_ms=LONG_AGO)]
    groups = unserved_groups(tasks, (), now_ms=NOW_MS)
    report = HealthReport(checked_at_ms=NOW_MS, tasks=(), unserved_groups=groups)
    incident = health_incident(report)
    assert incident.open
    assert report.alarming
    assert incident.title == "nobody can serve group build (1 waiting)"
    assert "switchyard pools subscribe POOL build" in str(incident.sections)
    over = health_incident(HealthReport(checked_at_ms=NOW_MS, tasks=()))
    assert not over.open
    assert over.fingerprint != incident.fingerprint
