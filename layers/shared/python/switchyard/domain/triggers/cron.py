"""AWS's `cron(…)`: the check of its six fields, the days that it means, and when it fires."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

FIRST_YEAR: Final = 1970

_PART: Final = re.compile(r"(\*|[0-9A-Z]+(?:-[0-9A-Z]+)?)(?:/([0-9]+))?")
_FIELDS: Final = ("minutes", "hours", "day-of-month", "month", "day-of-week", "year")
_MONTHS: Final = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
]  # fmt: skip
_WEEKDAYS: Final = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_SATURDAY: Final = 7
_NEAREST: Final = re.compile(r"([0-9]{1,2})W")
_LAST: Final = re.compile(r"([0-9A-Z]+)L")
_NTH: Final = re.compile(r"([0-9A-Z]+)#([0-9]+)")

DayRule = Callable[[int, int], set[int]]
"""The days that are meant of a year and a month."""


class InvalidSchedule(ValueError):
    """Names the field that is wrong, and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: DayRule
    months: tuple[int, ...]
    years: tuple[int, ...]


def parse_cron(text: str) -> Cron:
    """Check the six fields between the parentheses. Raise `InvalidSchedule`."""
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise InvalidSchedule(
            f"cron({text}): AWS wants six fields, not {len(fields)}: {' '.join(_FIELDS)}"
        )
    minutes, hours, day, month, weekday, year = fields
    if (day == "?") == (weekday == "?"):
        raise InvalidSchedule("day-of-month, day-of-week: exactly one of the two must be ?")
    return Cron(
        minutes=parse_numbers("minutes", minutes, 0, 59),
        hours=parse_numbers("hours", hours, 0, 23),
        days=parse_weekday(weekday) if day == "?" else parse_day_of_month(day),
        months=parse_numbers("month", month, 1, 12, names=_MONTHS),
        years=parse_numbers("year", year, FIRST_YEAR, 2199),
    )


def cron_runs(cron: Cron, after: datetime) -> Iterator[datetime]:
    """Yield all runs, earliest first. Seconds do not count: a run is on the minute."""
    for day in _days(cron, after):
        for hour in cron.hours:
            for minute in cron.minutes:
                run = day.replace(hour=hour, minute=minute)
                if run > after:
                    yield run


def _days(cron: Cron, after: datetime) -> Iterator[datetime]:
    first = after.replace(hour=0, minute=0, second=0, microsecond=0)
    for year in cron.years:
        for month in cron.months:
            if (year, month) < (first.year, first.month):
                continue
            for number in days_of_month(cron.days, year, month):
                day = datetime(year, month, number, tzinfo=UTC)
                if day >= first:
                    yield day


def parse_numbers(
    field: str, text: str, low: int, high: int, *, names: Sequence[str] = ()
) -> tuple[int, ...]:
    """Parse `*`, numbers, ranges and steps, with commas between. `names` stand for `low` and on."""
    chosen: set[int] = set()
    for part in text.split(","):
        found = _PART.fullmatch(part.upper())
        if found is None:
            raise InvalidSchedule(f"{field}: {part!r} must be *, 5, 5-10, */5 or 5/15")
        first, last = _bounds(field, found[1], low, high, names, stepping=found[2] is not None)
        step = int(found[2] or 1)
        if step < 1:
            raise InvalidSchedule(f"{field}: in {part!r} the step after / must be at least 1")
        chosen.update(range(first, last + 1, step))
    return tuple(sorted(chosen))


def parse_number(field: str, text: str, low: int, high: int, names: Sequence[str] = ()) -> int:
    name = text.upper()
    if name in names:
        return low + names.index(name)
    if not (text.isascii() and text.isdecimal() and low <= int(text) <= high):
        or_names = f" or {names[0]} to {names[-1]}" if names else ""
        raise InvalidSchedule(f"{field}: {text!r} must be {low} to {high}{or_names}")
    return int(text)


def _bounds(
    field: str, text: str, low: int, high: int, names: Sequence[str], *, stepping: bool
) -> tuple[int, int]:
    if text == "*":
        return low, high
    begin, ranged, end = text.partition("-")
    first = parse_number(field, begin, low, high, names)
    if not ranged:
        return first, high if stepping else first
    last = parse_number(field, end, low, high, names)
    if last < first:
        raise InvalidSchedule(
            f"{field}: {text!r} runs backwards; write it as two ranges with a comma"
        )
    return first, last


def days_of_month(rule: DayRule, year: int, month: int) -> list[int]:
    return sorted(rule(year, month))


def parse_day_of_month(text: str) -> DayRule:
    field = "day-of-month"
    if text == "L":
        return lambda year, month: {_length(year, month)}
    if text == "LW":
        return lambda year, month: {_nearest_weekday(year, month, _length(year, month))}
    nearest = _NEAREST.fullmatch(text)
    if nearest:
        wanted = parse_number(field, nearest[1], 1, 31)
        return lambda year, month: (
            {_nearest_weekday(year, month, wanted)} if wanted <= _length(year, month) else set()
        )
    numbers = set(parse_numbers(field, text, 1, 31))
    return lambda year, month: numbers & set(range(1, _length(year, month) + 1))


def parse_weekday(text: str) -> DayRule:
    field = "day-of-week"
    if "/" in text:
        raise InvalidSchedule(f"{field}: AWS takes no steps here, write MON,WED,FRI")
    last, nth = _LAST.fullmatch(text.upper()), _NTH.fullmatch(text.upper())
    if last:
        wanted = parse_number(field, last[1], 1, 7, _WEEKDAYS)
        return lambda year, month: {max(_on(year, month, {wanted}))}
    if nth:
        wanted = parse_number(field, nth[1], 1, 7, _WEEKDAYS)
        number = parse_number(f"{field} after #", nth[2], 1, 5)
        return lambda year, month: set(sorted(_on(year, month, {wanted}))[number - 1 : number])
    if text == "L":
        return lambda year, month: _on(year, month, {_SATURDAY})
    wanted_days = set(parse_numbers(field, text, 1, 7, names=_WEEKDAYS))
    return lambda year, month: _on(year, month, wanted_days)


def _length(year: int, month: int) -> int:
    return monthrange(year, month)[1]


def _weekday(year: int, month: int, day: int) -> int:
    """Return the weekday, 1 for Sunday, as AWS counts."""
    return date(year, month, day).isoweekday() % 7 + 1


def _on(year: int, month: int, weekdays: set[int]) -> set[int]:
    days = range(1, _length(year, month) + 1)
    return {day for day in days if _weekday(year, month, day) in weekdays}


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """Return the nearest day from Monday to Friday, never in another month."""
    workdays = sorted(_on(year, month, {2, 3, 4, 5, 6}))
    return min(workdays, key=lambda candidate: (abs(candidate - day), candidate))
