"""Which days of a month AWS's cron means, by their number or by their weekday."""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date
from typing import Final

from switchyard.domain.triggers.cron_fields import InvalidSchedule, parse_number, parse_numbers

_WEEKDAYS: Final = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_SATURDAY: Final = 7
_NEAREST: Final = re.compile(r"([0-9]{1,2})W")
_LAST: Final = re.compile(r"([0-9A-Z]+)L")
_NTH: Final = re.compile(r"([0-9A-Z]+)#([0-9]+)")

DayRule = Callable[[int, int], set[int]]
"""The days that are meant of a year and a month."""


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
    """1 is Sunday, as AWS counts."""
    return date(year, month, day).isoweekday() % 7 + 1


def _on(year: int, month: int, weekdays: set[int]) -> set[int]:
    days = range(1, _length(year, month) + 1)
    return {day for day in days if _weekday(year, month, day) in weekdays}


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """From Monday to Friday, and never in another month."""
    workdays = sorted(_on(year, month, {2, 3, 4, 5, 6}))
    return min(workdays, key=lambda candidate: (abs(candidate - day), candidate))
