"""The contract of the pages of `EventReader`."""

import pytest

from switchyard.adapters import event_pages
from switchyard.contracts.events import OVERFLOW, StoredEvent, what_it_says
from switchyard.domain.errors import Rejected
from switchyard.domain.events import event_queries
from switchyard.domain.events.event_queries import EventQuery, Period
from switchyard.domain.ids import JobRef
from switchyard.ports import PageOfEvents
from tests.builders import JOB_ID, NOW_MS
from tests.contract.conftest import Backend
from tests.contract.events.test_event_reader import (
    JOB,
    OTHER_JOB_ID,
    PENDING,
    QUESTIONS,
    completed,
    created,
    heartbeat,
    ids,
    keep,
    pending,
)

PLENTY = 1_000_000
WHOLE_JOB = (event_queries.history(JOB), event_queries.of_all_tasks(JOB, app="shop"))


def a_page(
    backend: Backend,
    *queries: EventQuery,
    limit: int = 2,
    max_bytes: int = PLENTY,
    cursor: str | None = None,
    newest_first: bool = False,
) -> PageOfEvents:
    return backend.reader.page(
        *queries, limit=limit, max_bytes=max_bytes, cursor=cursor, newest_first=newest_first
    )


def pages(
    backend: Backend, *queries: EventQuery, limit: int = 2, newest_first: bool = False
) -> list[list[StoredEvent]]:
    found, cursor = [], None
    while True:
        page = a_page(backend, *queries, limit=limit, cursor=cursor, newest_first=newest_first)
        found.append(list(page.events))
        cursor = page.cursor
        if cursor is None:
            return found


def flat(found: list[list[StoredEvent]]) -> list[StoredEvent]:
    return [event for page in found for event in page]


@pytest.mark.parametrize("newest_first", [False, True], ids=["oldest first", "newest first"])
def test_pages_are_full_in_order_and_together_complete(
    backend: Backend, newest_first: bool, subtests: pytest.Subtests
) -> None:
    for run in (1, 2, 3, 4, 5):  # of one millisecond, among what others own
        keep(backend, pending(run=run))
        for other in ("0", "ab", "b"):
            keep(backend, pending(run=run), tenant=other)
    for question, query in QUESTIONS.items():
        with subtests.test(question):
            expected = ids(list(backend.reader.read(query)))
            found = pages(backend, query, newest_first=newest_first)
            assert [len(page) for page in found] == [2, 2, 1]
            assert ids(flat(found)) == (expected[::-1] if newest_first else expected)
            assert {event.tenant_id for page in found for event in page} == {"a"}


@pytest.mark.parametrize("newest_first", [False, True], ids=["oldest first", "newest first"])
def test_events_on_a_page_are_whole(
    backend: Backend, newest_first: bool, subtests: pytest.Subtests
) -> None:
    keep(backend, pending())
    for question, query in QUESTIONS.items():
        with subtests.test(question):
            (event,) = a_page(backend, query, newest_first=newest_first).events
            assert what_it_says(event) == pending()


@pytest.mark.parametrize("newest_first", [False, True], ids=["oldest first", "newest first"])
def test_a_long_way_to_the_next_answer_is_made_in_several_pages(
    backend: Backend, newest_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_pages, "MOST_LOOKED_AT", 3)
    sent = [keep(backend, pending(run=run), at_ms=NOW_MS + run) for run in range(10)]
    keep(backend, completed({}), at_ms=NOW_MS + 5)
    nobody = event_queries.whole_log("a").within("nobody")
    assert {len(page) for page in pages(backend, nobody, newest_first=newest_first)} == {0}
    assert len(pages(backend, nobody, newest_first=newest_first)) > 2
    history = event_queries.history(JOB.task("task-1")).only(PENDING)
    found = ids(flat(pages(backend, history, limit=4, newest_first=newest_first)))
    expected = [event.event_id for event in sent]
    assert found == (expected[::-1] if newest_first else expected)


def test_a_last_page_that_is_exactly_full_leads_nowhere(backend: Backend) -> None:
    for run in (1, 2):
        keep(backend, pending(run=run))
    assert a_page(backend, QUESTIONS["type"], limit=2).cursor is None
    assert a_page(backend, QUESTIONS["all tasks"], limit=2).cursor is None


@pytest.mark.parametrize("newest_first", [False, True], ids=["oldest first", "newest first"])
def test_several_questions_are_answered_as_one_by_time(
    backend: Backend, newest_first: bool
) -> None:
    sent = [
        keep(backend, created(), at_ms=NOW_MS),
        keep(backend, pending("z"), at_ms=NOW_MS + 1),
        keep(backend, pending("a"), at_ms=NOW_MS + 2),
        keep(backend, completed({}, "z"), at_ms=NOW_MS + 3),
        keep(backend, completed({}, "a"), at_ms=NOW_MS + 4),
        keep(backend, pending("a", run=2), at_ms=NOW_MS + 5),
        keep(backend, pending("a", run=3), at_ms=NOW_MS + 6),
    ]
    keep(backend, heartbeat(1), at_ms=NOW_MS + 2)
    keep(backend, pending(job_id=OTHER_JOB_ID))
    keep(backend, created(OTHER_JOB_ID))
    expected = [event.event_id for event in sent]
    found = ids(flat(pages(backend, *WHOLE_JOB, newest_first=newest_first)))
    assert found == (expected[::-1] if newest_first else expected)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_period_begins_with_its_first_moment_and_ends_before_its_last(
    backend: Backend, question: str
) -> None:
    for second in range(5):
        keep(backend, pending(run=second), at_ms=NOW_MS + second)
    period = Period(since_ms=NOW_MS + 1, until_ms=NOW_MS + 3)
    task = JOB.task("task-1")
    narrowed = {
        "history": event_queries.history(task, period),
        "all tasks": event_queries.of_all_tasks(JOB, app="shop", period=period),
        "app": event_queries.of_app("a", "shop", period),
        "type": event_queries.of_type("a", PENDING, period),
        "type and entity": event_queries.of_type_and_entity(PENDING, task, period),
        "type and app": event_queries.of_type_and_app("a", PENDING, app="shop", period=period),
        "type, app and entity": event_queries.of_type_app_and_entity(
            PENDING, task, app="shop", period=period
        ),
        "whole log": event_queries.whole_log("a", period),
    }
    for newest_first in (False, True):
        found = flat(pages(backend, narrowed[question], newest_first=newest_first))
        assert sorted(event.timestamp - NOW_MS for event in found) == [1, 2]


def test_nothing_lies_in_a_period_that_ends_before_it_begins(backend: Backend) -> None:
    keep(backend, pending())
    period = Period(since_ms=NOW_MS + 1, until_ms=NOW_MS - 1)
    assert event_queries.whole_log("a", period).empty  # which DynamoDB would not accept
    assert a_page(backend, event_queries.whole_log("a", period)) == PageOfEvents((), None)
    assert backend.reader.read(event_queries.whole_log("a", period)) == ()


def test_a_page_of_one_type_is_filled(backend: Backend) -> None:
    for number in range(5):
        keep(backend, pending(f"task-{number}"), at_ms=NOW_MS + number)
        keep(backend, completed({}, f"task-{number}"), at_ms=NOW_MS + number)
    query = event_queries.of_all_tasks(JOB, app="shop").only(PENDING)
    assert [len(page) for page in pages(backend, query)] == [2, 2, 1]
    history = event_queries.history(JOB.task("task-1")).only(PENDING)
    assert [event.event_type for event in a_page(backend, history).events] == [PENDING]


def test_a_cursor_goes_on_when_the_period_has_moved_meanwhile(backend: Backend) -> None:
    for second in range(4):
        keep(backend, pending(run=second), at_ms=NOW_MS + second)
    cursor = a_page(backend, QUESTIONS["type"], limit=1).cursor
    later = event_queries.of_type("a", PENDING, Period(since_ms=NOW_MS + 2))
    found = a_page(backend, later, cursor=cursor)
    assert [event.timestamp - NOW_MS for event in found.events] == [2, 3]


def test_a_cursor_leads_nowhere_beyond_the_period(backend: Backend) -> None:
    for second in range(4):
        keep(backend, pending(run=second), at_ms=NOW_MS + second)
    cursor = a_page(backend, QUESTIONS["type"], limit=1, newest_first=True).cursor
    earlier = event_queries.of_type("a", PENDING, Period(until_ms=NOW_MS + 1))
    found = a_page(backend, earlier, cursor=cursor, newest_first=True)
    assert [event.timestamp - NOW_MS for event in found.events] == [0]


def a_cursor(backend: Backend, *queries: EventQuery, newest_first: bool = False) -> str:
    cursor = a_page(backend, *queries, limit=1, newest_first=newest_first).cursor
    assert cursor is not None
    return cursor


def test_a_cursor_of_another_question_is_refused(backend: Backend) -> None:
    for tenant in ("a", "ab"):
        for run in (1, 2):
            keep(backend, pending(run=run), tenant=tenant)
    mine = QUESTIONS["type"]
    foreign = [
        a_cursor(backend, event_queries.of_type("ab", PENDING)),
        a_cursor(backend, QUESTIONS["app"]),
        a_cursor(backend, QUESTIONS["history"]),
        a_cursor(backend, mine, newest_first=True),
        a_cursor(backend, mine, QUESTIONS["history"]),
        a_cursor(backend, QUESTIONS["whole log"]),
    ]
    for cursor in foreign:
        with pytest.raises(Rejected, match="cursor: it belongs to another question"):
            a_page(backend, mine, cursor=cursor)
    assert a_page(backend, mine, cursor=a_cursor(backend, mine)).events


@pytest.mark.parametrize(
    "cursor", ["nonsense", "é", "=", "W10", "MQ", "bnVsbA", "WzEsMl0", "a" * 999]
)
def test_a_broken_cursor_is_refused(backend: Backend, cursor: str) -> None:
    with pytest.raises(Rejected, match="cursor: "):
        a_page(backend, QUESTIONS["whole log"], cursor=cursor)


def test_a_page_ends_where_its_bytes_do(backend: Backend) -> None:
    for number in range(4):
        keep(backend, completed("x" * 1000, f"task-{number}"), at_ms=NOW_MS + number)
    query = QUESTIONS["all tasks"]
    first = a_page(backend, query, limit=4, max_bytes=3_000)
    assert [event.timestamp - NOW_MS for event in first.events] == [0, 1]
    second = a_page(backend, query, limit=4, max_bytes=3_000, cursor=first.cursor)
    assert [event.timestamp - NOW_MS for event in second.events] == [2, 3]
    assert second.cursor is None
    assert len(a_page(backend, query, max_bytes=1).events) == 1


def test_what_is_too_large_even_alone_stays_in_the_bucket(backend: Backend) -> None:
    keep(backend, completed("x" * 300_000, "task-1"))
    keep(backend, completed("x" * 100, "task-2"), at_ms=NOW_MS + 1)
    first = a_page(backend, QUESTIONS["all tasks"], max_bytes=250_000)
    large, small = first.events
    assert OVERFLOW in (large.properties or {})
    assert what_it_says(small) == completed("x" * 100, "task-2")
    (whole, _) = a_page(backend, QUESTIONS["all tasks"], max_bytes=PLENTY).events
    assert what_it_says(whole) == completed("x" * 300_000, "task-1")


def test_an_unknown_job_has_an_empty_page(backend: Backend) -> None:
    keep(backend, created())
    nobody = JobRef("a", JOB_ID.replace("1", "3"))
    assert a_page(backend, event_queries.history(nobody)) == PageOfEvents((), None)
