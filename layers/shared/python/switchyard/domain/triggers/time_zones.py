"""Cron schedules in the local time of a time zone.

EventBridge's rules know UTC alone. The rule of a local schedule therefore fires in every hour, and
`is_due` decides for each event whether its minute is a scheduled one there. As with EventBridge
Scheduler, a local time that clocks skip is no run, and one that they show twice is one run: the
first of the two.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from switchyard.domain.triggers.cron import days_of_month
from switchyard.domain.triggers.schedules import (
    Cron,
    Rate,
    cron_runs,
    next_run_ms,
    parse_schedule,
)

_DAY: Final = timedelta(days=1)
_MINUTES_OF_HOUR: Final = 60
_YEARS_AHEAD: Final = 2
"""The years ahead for which the offsets of a zone are looked up."""


@cache
def known_time_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def problem_with_time_zone(name: str) -> str | None:
    if name in known_time_zones():
        return None
    return f"{name!r:.80} is no time zone: write a name like Europe/Berlin, America/New_York or UTC"


def next_start_ms(
    schedule: str, time_zone: str | None, *, after_ms: int, since_ms: int
) -> int | None:
    """The first run after `after_ms`, or `None` if there is none any more.

    A rate counts from `since_ms`, when it was set.
    """
    parsed = parse_schedule(schedule)
    if time_zone is None or isinstance(parsed, Rate):
        return next_run_ms(parsed, after_ms=after_ms, since_ms=since_ms)
    after = _moment(after_ms)
    runs = _moments(parsed, ZoneInfo(time_zone), after - _DAY)
    run = next((run for run in runs if run > after), None)
    return None if run is None else round(run.timestamp() * 1000)


def rule_schedule(schedule: str, time_zone: str | None, *, now_ms: int) -> str:
    """The schedule of the rule: in UTC, and for a local schedule in every hour.

    So it stays right when a government moves its clocks by an hour.
    """
    parsed = parse_schedule(schedule)
    if time_zone is None or isinstance(parsed, Rate):
        return schedule
    minutes = {
        (minute - offset) % _MINUTES_OF_HOUR
        for offset in _offsets_in_minutes(ZoneInfo(time_zone), _moment(now_ms))
        for minute in parsed.minutes
    }
    return f"cron({','.join(map(str, sorted(minutes)))} * * * ? *)"


def is_due(schedule: str, time_zone: str | None, *, at: datetime) -> bool:
    """Whether the minute of `at`, at which the rule has fired, is a run of the schedule."""
    parsed = parse_schedule(schedule)
    if time_zone is None or isinstance(parsed, Rate):
        return True
    local = at.astimezone(ZoneInfo(time_zone))
    return (
        local.fold == 0
        and local.year in parsed.years
        and local.month in parsed.months
        and local.day in days_of_month(parsed.days, local.year, local.month)
        and local.hour in parsed.hours
        and local.minute in parsed.minutes
    )


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def _moments(cron: Cron, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Runs in UTC, earliest first."""
    local_after = after.astimezone(zone).replace(tzinfo=UTC)
    for local in cron_runs(cron, local_after):
        wanted = local.replace(tzinfo=zone, fold=0)
        moment = wanted.astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == wanted.replace(tzinfo=None):
            yield moment


def _offsets_in_minutes(zone: ZoneInfo, now: datetime) -> set[int]:
    """Return every offset that the zone has from now on, looked up day by day."""
    days = range(_YEARS_AHEAD * 366)
    offsets = {(now + day * _DAY).astimezone(zone).utcoffset() or timedelta() for day in days}
    return {offset // timedelta(minutes=1) for offset in offsets}
