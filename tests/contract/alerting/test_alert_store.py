"""The contract of `AlertStore`."""

from dataclasses import replace

from switchyard.domain.alerts.alerts import LEASE, Alert
from switchyard.domain.alerts.incidents import Incident, Severity
from switchyard.domain.alerts.subjects import JobSubject
from switchyard.domain.ids import JobRef
from switchyard.ports.alerting import AlertStore
from tests.builders import NOW_MS
from tests.contract.conftest import Backend

KEY = "job/acme/job-1@#ops"
STUCK = Incident(
    subject=JobSubject(JobRef("acme", "job-1")),
    severity=Severity.CRITICAL,
    open=True,
    title="!",
    fingerprint="abc",
)
OVER = replace(STUCK, open=False, fingerprint="over")


def leased(store: AlertStore, key: str = KEY, *, at: int = NOW_MS) -> Alert:
    alert = store.lease(store.find(key) or Alert(key=key), now_ms=at)
    assert alert is not None
    return alert


def posted(alert: Alert) -> Alert:
    published = alert.published(STUCK, now_ms=NOW_MS)
    return replace(published, channel="C1", pages=("1.1", "1.2"))


def test_a_subject_without_an_alert_is_not_found_and_not_due(backend: Backend) -> None:
    assert backend.alerts.find(KEY) is None
    assert backend.alerts.due(now_ms=NOW_MS, limit=10) == []


def test_a_leased_alert_is_due_when_its_lease_ends_and_unsure(backend: Backend) -> None:
    alert = leased(backend.alerts)
    assert backend.alerts.find(KEY) == alert
    assert alert.unsure
    assert alert.lease_until_ms == NOW_MS + LEASE
    assert backend.alerts.due(now_ms=NOW_MS + LEASE - 1, limit=10) == []
    assert backend.alerts.due(now_ms=NOW_MS + LEASE, limit=10) == [KEY]


def test_of_two_that_read_no_alert_one_gets_the_lease(backend: Backend) -> None:
    new = Alert(key=KEY)
    assert backend.alerts.lease(new, now_ms=NOW_MS) is not None
    assert backend.alerts.lease(new, now_ms=NOW_MS) is None


def test_of_two_that_read_an_old_alert_one_gets_the_lease(backend: Backend) -> None:
    backend.alerts.save(posted(leased(backend.alerts)))
    known = backend.alerts.find(KEY)
    assert known is not None
    assert backend.alerts.lease(known, now_ms=NOW_MS + 1) is not None
    assert backend.alerts.lease(known, now_ms=NOW_MS + 2) is None


def test_a_published_alert_is_saved_and_no_longer_due(backend: Backend) -> None:
    alert = posted(leased(backend.alerts))
    assert backend.alerts.save(alert)
    assert backend.alerts.find(KEY) == alert
    assert backend.alerts.due(now_ms=NOW_MS + 10 * LEASE, limit=10) == []


def test_a_process_that_lost_its_lease_saves_nothing(backend: Backend) -> None:
    slow = leased(backend.alerts)
    quick = posted(leased(backend.alerts, at=NOW_MS + LEASE + 1))
    assert not backend.alerts.save(replace(slow, channel="C9", pages=("9.9",)))
    assert backend.alerts.save(quick)
    assert backend.alerts.find(KEY) == quick


def test_an_alert_that_is_not_stored_is_not_saved(backend: Backend) -> None:
    assert not backend.alerts.save(posted(Alert(key=KEY, fence=1)))
    assert backend.alerts.find(KEY) is None


def test_an_update_that_is_requested_during_the_lease_stays_due(
    backend: Backend,
) -> None:
    alert = leased(backend.alerts)
    backend.alerts.request_update(KEY, now_ms=NOW_MS + 5)
    assert backend.alerts.save(posted(alert))
    assert backend.alerts.due(now_ms=NOW_MS + 5, limit=10) == [KEY]
    found = backend.alerts.find(KEY)
    assert found is not None
    assert (found.pages, found.asks) == (("1.1", "1.2"), 1)


def test_an_update_that_is_requested_after_the_lease_is_due_as_well(backend: Backend) -> None:
    backend.alerts.save(posted(leased(backend.alerts)))
    backend.alerts.request_update(KEY, now_ms=NOW_MS + 5)
    assert backend.alerts.due(now_ms=NOW_MS + 5, limit=10) == [KEY]


def test_an_update_of_an_unknown_alert_writes_nothing(backend: Backend) -> None:
    backend.alerts.request_update(KEY, now_ms=NOW_MS)
    assert backend.alerts.find(KEY) is None


def test_the_longest_due_come_first_and_no_more_than_asked_for(backend: Backend) -> None:
    for number, key in enumerate(["c", "a", "b"]):
        leased(backend.alerts, key, at=NOW_MS + number)
    later = NOW_MS + 2 * LEASE
    assert backend.alerts.due(now_ms=later, limit=2) == ["c", "a"]
    assert backend.alerts.due(now_ms=later, limit=10) == ["c", "a", "b"]


def test_an_incident_that_is_over_begins_anew(backend: Backend) -> None:
    backend.alerts.save(posted(leased(backend.alerts)))
    backend.alerts.save(leased(backend.alerts).published(OVER, now_ms=NOW_MS + 7))
    over = backend.alerts.find(KEY)
    assert over is not None
    assert over.forget_at_ms is not None
    again = leased(backend.alerts, at=NOW_MS + 9)
    assert (again.pages, again.opened_at_ms, again.forget_at_ms) == ((), NOW_MS + 9, None)


def test_tasks_and_jobs_that_are_overdue_are_not_mixed_up_with_alerts(backend: Backend) -> None:
    leased(backend.alerts)
    far = NOW_MS + 10 * LEASE
    for shard in range(16):
        page = backend.overdue.page(shard, now_ms=far, limit=10, cursor=None)
        assert page.refs == ()
