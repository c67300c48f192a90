"""AWS's schedules: which are valid, and when they fire next."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.domain.triggers.schedules import InvalidSchedule, next_run_ms, parse_schedule

NOVEMBER = datetime(2026, 11, 16, 8, 30, 15, tzinfo=UTC)  # a Monday
MINUTE = timedelta(minutes=1)
HOUR_MS = 3_600_000
MOMENTS = st.integers(0, 5_000_000_000).map(lambda s: datetime.fromtimestamp(s, tz=UTC))


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def next_after(text: str, after: datetime, *, since: datetime = NOVEMBER) -> datetime | None:
    found = next_run_ms(parse_schedule(text), after_ms=ms(after), since_ms=ms(since))
    return None if found is None else datetime.fromtimestamp(found / 1000, tz=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cron(* * * * ? *)", "2026-11-16 08:31"),
        ("cron(0/15 * * * ? *)", "2026-11-16 08:45"),
        ("cron(30 8 * * ? *)", "2026-11-17 08:30"),
        ("cron(0 9 ? * MON-FRI *)", "2026-11-16 09:00"),
        ("cron(0 7 ? * MON-FRI *)", "2026-11-17 07:00"),
        ("cron(0 7 ? * sat,1 *)", "2026-11-21 07:00"),
        ("cron(0 0 ? * L *)", "2026-11-21 00:00"),
        ("cron(0 0 ? * 2#1 *)", "2026-12-07 00:00"),
        ("cron(0 0 ? * FRI#5 *)", "2027-01-29 00:00"),
        ("cron(0 0 ? * 6L *)", "2026-11-27 00:00"),
        ("cron(0 0 L * ? *)", "2026-11-30 00:00"),
        ("cron(0 0 LW 2 ? *)", "2027-02-26 00:00"),
        ("cron(0 0 1W * ? *)", "2026-12-01 00:00"),
        ("cron(0 0 1W MAY ? 2027)", "2027-05-03 00:00"),
        ("cron(0 0 15W * ? *)", "2026-12-15 00:00"),
        ("cron(0 0 31 * ? *)", "2026-12-31 00:00"),
        ("cron(0 0 31W * ? *)", "2026-12-31 00:00"),
        ("cron(0 0 29 FEB ? *)", "2028-02-29 00:00"),
        ("cron(5,10 3-4 1 1/6 ? 2026/2)", "2028-01-01 03:05"),
    ],
)
def test_the_next_run_of_a_cron_expression(text: str, expected: str) -> None:
    found = next_after(text, NOVEMBER)
    assert found is not None
    assert f"{found:%Y-%m-%d %H:%M}" == expected


def test_a_schedule_whose_years_are_over_has_no_next_run() -> None:
    assert next_after("cron(0 0 1 1 ? 2020-2026)", NOVEMBER) is None
    assert next_after("cron(0 0 30 2 ? *)", NOVEMBER) is None


def test_a_run_is_never_now_but_after_now() -> None:
    on_the_minute = NOVEMBER.replace(second=0)
    assert next_after("cron(* * * * ? *)", on_the_minute) == on_the_minute + MINUTE


@pytest.mark.parametrize(("hours_later", "next_hour"), [(0, 6), (5, 6), (6, 12), (13, 18)])
def test_a_rate_counts_from_when_it_was_set(hours_later: int, next_hour: int) -> None:
    since = ms(NOVEMBER)
    found = next_run_ms(
        parse_schedule("rate(6 hours)"), after_ms=since + hours_later * HOUR_MS, since_ms=since
    )
    assert found == since + next_hour * HOUR_MS


def test_a_clock_that_is_behind_the_settings_still_gets_the_first_run() -> None:
    found = next_run_ms(parse_schedule("rate(1 day)"), after_ms=0, since_ms=ms(NOVEMBER))
    assert found == ms(NOVEMBER) + 24 * HOUR_MS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every day", "is no schedule: write rate(5 minutes) or cron("),
        ("cron(0 9 * * *)", "AWS wants six fields, not 5: minutes hours day-of-month"),
        ("cron(0 9 * * * *)", "day-of-month, day-of-week: exactly one of the two must be ?"),
        ("cron(0 9 ? * ? *)", "day-of-month, day-of-week: exactly one of the two must be ?"),
        ("cron(60 9 ? * * *)", "minutes: '60' must be 0 to 59"),
        ("cron(0 24 ? * * *)", "hours: '24' must be 0 to 23"),
        ("cron(0 9 0 * ? *)", "day-of-month: '0' must be 1 to 31"),
        ("cron(0 9 ? 13 * *)", "month: '13' must be 1 to 12 or JAN to DEC"),
        ("cron(0 9 ? * FUN *)", "day-of-week: 'FUN' must be 1 to 7 or SUN to SAT"),
        ("cron(0 9 ? * 2#6 *)", "day-of-week after #: '6' must be 1 to 5"),
        ("cron(0 9 ? * FRI-MON *)", "day-of-week: 'FRI-MON' runs backwards; write it as two"),
        ("cron(0 9 ? * * 1969)", "year: '1969' must be 1970 to 2199"),
        ("cron(*/0 9 ? * * *)", "the step after / must be at least 1"),
        ("cron(a;b 9 ? * * *)", "minutes: 'a;b' must be *, 5, 5-10, */5 or 5/15"),
        ("cron(? 9 ? * * *)", "minutes: '?' must be *, 5, 5-10"),
        ("rate(0 minutes)", "must be a number above 0 and minutes, hours or days"),
        ("rate(5 weeks)", "must be a number above 0 and minutes, hours or days"),
        ("rate(1 hours)", "AWS wants rate(1 hour)"),
        ("rate(5 minute)", "AWS wants rate(5 minutes)"),
        ("rate(5 minutes) ", "is no schedule"),
    ],
)
def test_what_is_wrong_names_the_field_and_what_would_be_right(text: str, words: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        parse_schedule(text)
    assert words in str(refused.value)


@given(
    minutes=st.sets(st.integers(0, 59), min_size=1, max_size=4),
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=4),
    weekdays=st.sets(st.integers(1, 7), min_size=3),
    after=MOMENTS,
)
def test_no_minute_is_left_out_and_none_is_added(
    minutes: set[int], hours: set[int], weekdays: set[int], after: datetime
) -> None:
    fields = [",".join(map(str, sorted(chosen))) for chosen in (minutes, hours, weekdays)]
    found = next_after(f"cron({fields[0]} {fields[1]} ? * {fields[2]} *)", after)

    candidate = after.replace(second=0, microsecond=0) + MINUTE
    while not (
        candidate.minute in minutes
        and candidate.hour in hours
        and candidate.isoweekday() % 7 + 1 in weekdays
    ):
        candidate += MINUTE
    assert found == candidate


@given(
    day=st.integers(1, 31),
    month=st.integers(1, 12),
    after=MOMENTS,
)
def test_runs_follow_each_other_in_order(day: int, month: int, after: datetime) -> None:
    text = f"cron(0 12 {day} {month} ? *)"
    first = next_after(text, after)
    if first is None:
        assert day > 29
        return
    assert first > after
    assert (first.day, first.month, first.hour, first.minute) == (day, month, 12, 0)
    second = next_after(text, first)
    assert second is not None
    assert second > first


@given(st.text(alphabet="cronrate()*/,-?LW# 0123456789MONJAN", max_size=40))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        schedule = parse_schedule(f"cron({text})")
    except InvalidSchedule:
        return
    next_run_ms(schedule, after_ms=ms(NOVEMBER), since_ms=0)
