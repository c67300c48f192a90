"""What every book of alerts promises."""

from dataclasses import replace

from switchyard.domain.alerts.alerts import LEASE, Alert
from switchyard.domain.alerts.incidents import Incident, Severity
from switchyard.ports.alerting import AlertBook
from tests.builders import NOW_MS
from tests.contract.conftest import Backend

KEY = "job/acme/job-1@#ops"
STUCK = Incident(
    subject="job/acme/job-1", severity=Severity.CRITICAL, open=True, title="!", fingerprint="abc"
)
OVER = replace(STUCK, open=False, fingerprint="over")


def taken(book: AlertBook, key: str = KEY, *, at: int = NOW_MS) -> Alert:
    alert = book.take(book.find(key) or Alert(key=key), now_ms=at)
    assert alert is not None
    return alert


def posted(alert: Alert) -> Alert:
    told = alert.told(STUCK, now_ms=NOW_MS)
    return replace(told, channel="C1", pages=("1.1", "1.2"))


def test_a_subject_that_nobody_was_told_of_is_not_in_the_book(backend: Backend) -> None:
    assert backend.alerts.find(KEY) is None
    assert backend.alerts.due(now_ms=NOW_MS, limit=10) == []


def test_who_takes_it_leaves_behind_that_it_is_due_and_unsure(backend: Backend) -> None:
    alert = taken(backend.alerts)
    assert backend.alerts.find(KEY) == alert
    assert alert.unsure
    assert alert.lease_until_ms == NOW_MS + LEASE
    assert backend.alerts.due(now_ms=NOW_MS + LEASE - 1, limit=10) == []
    assert backend.alerts.due(now_ms=NOW_MS + LEASE, limit=10) == [KEY]


def test_of_two_who_read_the_same_one_may_tell(backend: Backend) -> None:
    new = Alert(key=KEY)
    assert backend.alerts.take(new, now_ms=NOW_MS) is not None
    assert backend.alerts.take(new, now_ms=NOW_MS) is None


def test_of_two_who_read_an_old_one_may_tell(backend: Backend) -> None:
    backend.alerts.save(posted(taken(backend.alerts)))
    known = backend.alerts.find(KEY)
    assert known is not None
    assert backend.alerts.take(known, now_ms=NOW_MS + 1) is not None
    assert backend.alerts.take(known, now_ms=NOW_MS + 2) is None


def test_what_was_told_is_remembered_and_no_longer_due(backend: Backend) -> None:
    told = posted(taken(backend.alerts))
    assert backend.alerts.save(told)
    assert backend.alerts.find(KEY) == told
    assert backend.alerts.due(now_ms=NOW_MS + 10 * LEASE, limit=10) == []


def test_who_lost_the_right_saves_nothing(backend: Backend) -> None:
    slow = taken(backend.alerts)
    quick = posted(taken(backend.alerts, at=NOW_MS + LEASE + 1))
    assert not backend.alerts.save(replace(slow, channel="C9", pages=("9.9",)))
    assert backend.alerts.save(quick)
    assert backend.alerts.find(KEY) == quick


def test_an_alert_that_is_not_in_the_book_is_not_saved(backend: Backend) -> None:
    assert not backend.alerts.save(posted(Alert(key=KEY, fence=1)))
    assert backend.alerts.find(KEY) is None


def test_what_another_asked_for_meanwhile_stays_due_when_the_teller_saves(
    backend: Backend,
) -> None:
    alert = taken(backend.alerts)
    backend.alerts.ask(KEY, now_ms=NOW_MS + 5)
    assert backend.alerts.save(posted(alert))
    assert backend.alerts.due(now_ms=NOW_MS + 5, limit=10) == [KEY]
    found = backend.alerts.find(KEY)
    assert found is not None
    assert (found.pages, found.asks) == (("1.1", "1.2"), 1)


def test_who_asks_after_it_was_saved_has_it_looked_at_as_well(backend: Backend) -> None:
    backend.alerts.save(posted(taken(backend.alerts)))
    backend.alerts.ask(KEY, now_ms=NOW_MS + 5)
    assert backend.alerts.due(now_ms=NOW_MS + 5, limit=10) == [KEY]


def test_to_ask_for_what_is_not_in_the_book_writes_nothing(backend: Backend) -> None:
    backend.alerts.ask(KEY, now_ms=NOW_MS)
    assert backend.alerts.find(KEY) is None


def test_the_longest_due_come_first_and_no_more_than_asked_for(backend: Backend) -> None:
    for number, key in enumerate(["c", "a", "b"]):
        taken(backend.alerts, key, at=NOW_MS + number)
    later = NOW_MS + 2 * LEASE
    assert backend.alerts.due(now_ms=later, limit=2) == ["c", "a"]
    assert backend.alerts.due(now_ms=later, limit=10) == ["c", "a", "b"]


def test_what_is_over_is_told_and_then_begun_anew(backend: Backend) -> None:
    backend.alerts.save(posted(taken(backend.alerts)))
    backend.alerts.save(taken(backend.alerts).told(OVER, now_ms=NOW_MS + 7))
    over = backend.alerts.find(KEY)
    assert over is not None
    assert over.forget_at_ms is not None
    again = taken(backend.alerts, at=NOW_MS + 9)
    assert (again.pages, again.opened_at_ms, again.forget_at_ms) == ((), NOW_MS + 9, None)


def test_tasks_and_jobs_that_are_overdue_are_not_mixed_up_with_alerts(backend: Backend) -> None:
    taken(backend.alerts)
    far = NOW_MS + 10 * LEASE
    for shard in range(16):
        page = backend.overdue.page(shard, now_ms=far, limit=10, cursor=None)
        assert page.refs == ()
