"""Schedules in local time: when they run, and which rule fires for them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.triggers.schedules import next_run_ms, parse_schedule
from switchyard.domain.triggers.time_zones import (
    is_due,
    next_start_ms,
    problem_with_time_zone,
    rule_schedule,
)

BERLIN, NEW_YORK, LORD_HOWE, KATHMANDU = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
)
NIGHTLY = "cron(30 2 * * ? *)"
MINUTE = timedelta(minutes=1)
NOW_MS = 1_794_787_200_000  # 16 November 2026


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def runs(schedule: str, zone: str | None, *, after: str, count: int) -> list[str]:
    found: list[str] = []
    at_ms = round(utc(after).timestamp() * 1000)
    for _ in range(count):
        next_ms = next_start_ms(schedule, zone, after_ms=at_ms, since_ms=0)
        assert next_ms is not None
        at_ms = next_ms
        found.append(f"{datetime.fromtimestamp(at_ms / 1000, tz=UTC):%m-%d %H:%M}")
    return found


def due_minutes(schedule: str, zone: str, *, first: str, days: int) -> list[str]:
    begin = utc(first)
    minutes = (begin + number * MINUTE for number in range(days * 24 * 60))
    return [f"{at:%m-%d %H:%M}" for at in minutes if is_due(schedule, zone, at=at)]


def test_a_local_schedule_follows_summer_and_winter_time() -> None:
    nine = "cron(0 9 * * ? *)"
    assert runs(nine, BERLIN, after="2026-03-27T12:00", count=3) == [
        "03-28 08:00",
        "03-29 07:00",
        "03-30 07:00",
    ]
    assert runs(nine, None, after="2026-03-27T12:00", count=1) == ["03-28 09:00"]


def test_a_local_time_that_clocks_skip_is_no_run() -> None:
    expected = ["03-28 01:30", "03-30 00:30"]
    assert runs(NIGHTLY, BERLIN, after="2026-03-27T12:00", count=2) == expected
    assert due_minutes(NIGHTLY, BERLIN, first="2026-03-28T00:00", days=3) == expected


def test_a_local_time_that_clocks_show_twice_is_one_run_the_first_time() -> None:
    expected = ["10-24 00:30", "10-25 00:30", "10-26 01:30"]
    assert runs(NIGHTLY, BERLIN, after="2026-10-23T12:00", count=3) == expected
    assert due_minutes(NIGHTLY, BERLIN, first="2026-10-24T00:00", days=3) == expected


def test_days_are_days_of_the_zone() -> None:
    mondays = "cron(0 20 ? * MON *)"
    assert runs(mondays, NEW_YORK, after="2026-11-16T12:00", count=1) == ["11-17 01:00"]
    assert due_minutes(mondays, NEW_YORK, first="2026-11-16T00:00", days=7) == ["11-17 01:00"]


def test_seconds_of_the_event_do_not_matter() -> None:
    assert is_due("cron(0 9 * * ? *)", BERLIN, at=utc("2026-11-16T08:00:47"))


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        (BERLIN, "cron(30 * * * ? *)"),
        (LORD_HOWE, "cron(0,30 * * * ? *)"),
        (KATHMANDU, "cron(45 * * * ? *)"),
    ],
)
def test_the_rule_fires_in_every_hour(zone: str, expected: str) -> None:
    assert rule_schedule(NIGHTLY, zone, now_ms=NOW_MS) == expected


def test_without_a_zone_the_rule_has_the_schedule_itself_and_each_event_is_due() -> None:
    assert rule_schedule(NIGHTLY, None, now_ms=NOW_MS) == NIGHTLY
    assert is_due(NIGHTLY, None, at=utc("2026-11-16T17:11"))


@given(
    st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, KATHMANDU, "Africa/Casablanca", "UTC"]),
    st.integers(0, 59),
    st.integers(0, 23),
    st.integers(0, 600 * 24 * 60),
)
def test_each_run_is_due_and_its_rule_fires_then(
    zone: str, minute: int, hour: int, minutes_later: int
) -> None:
    schedule, now = f"cron({minute} {hour} * * ? *)", utc("2026-01-01T00:00")
    after = now + minutes_later * MINUTE
    run_ms = next_start_ms(schedule, zone, after_ms=round(after.timestamp() * 1000), since_ms=0)
    assert run_ms is not None
    assert is_due(schedule, zone, at=datetime.fromtimestamp(run_ms / 1000, tz=UTC))
    rule = parse_schedule(rule_schedule(schedule, zone, now_ms=round(now.timestamp() * 1000)))
    assert next_run_ms(rule, after_ms=run_ms - 1, since_ms=0) == run_ms


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "+01:00"])
def test_what_is_no_time_zone_is_refused(name: str) -> None:
    assert "is no time zone" in str(problem_with_time_zone(name))
