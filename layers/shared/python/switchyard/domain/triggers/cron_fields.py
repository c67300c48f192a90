"""One field of AWS's cron that is a choice of numbers."""

import re
from collections.abc import Sequence
from typing import Final

FIRST_YEAR: Final = 1970

_PART: Final = re.compile(r"(\*|[0-9A-Z]+(?:-[0-9A-Z]+)?)(?:/([0-9]+))?")


class InvalidSchedule(ValueError):
    """Names the field that is wrong, and what would be right."""


def parse_numbers(
    field: str, text: str, low: int, high: int, *, names: Sequence[str] = ()
) -> tuple[int, ...]:
    """`*`, numbers, ranges and steps, separated by commas. `names` stand for `low` and so on."""
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
