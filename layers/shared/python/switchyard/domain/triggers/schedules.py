"""Computes when a schedule fires: AWS's `cron(…)` and `rate(…)`, in UTC.

rate(5 minutes)                      every five minutes, counted from when it was set
cron(0 9 ? * MON-FRI *)              minutes hours day-of-month month day-of-week year
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from switchyard.domain.tasks.task import milliseconds
from switchyard.domain.triggers.cron import Cron, InvalidSchedule, cron_runs, parse_cron

__all__ = [
    "Cron",
    "InvalidSchedule",
    "Rate",
    "Schedule",
    "cron_runs",
    "next_run_ms",
    "parse_schedule",
]

LONGEST: Final = 256
"""The most characters of a schedule:
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html"""

_FORM: Final = re.compile(r"(cron|rate)\(([^()]*)\)")
_RATE: Final = re.compile(r"([1-9][0-9]{0,5}) (minute|hour|day)(s?)")


@dataclass(frozen=True, slots=True)
class Rate:
    every: timedelta


Schedule = Cron | Rate


def parse_schedule(text: str) -> Schedule:
    """Raise `InvalidSchedule`, which names the field and what would be right."""
    if len(text) > LONGEST:
        raise InvalidSchedule(f"has {len(text):,} characters; a schedule has at most {LONGEST}")
    form = _FORM.fullmatch(text)
    if form is None:
        raise InvalidSchedule(
            f"{text!r} is no schedule: write rate(5 minutes) or cron(0 9 ? * MON-FRI *)"
        )
    return parse_cron(form[2]) if form[1] == "cron" else _rate(form[2])


def next_run_ms(schedule: Schedule, *, after_ms: int, since_ms: int) -> int | None:
    """The first time after `after_ms`, or `None` if there is none any more.

    A rate counts from `since_ms`, when it was set.
    """
    if isinstance(schedule, Rate):
        every = milliseconds(schedule.every)
        return since_ms + every * max(1, (after_ms - since_ms) // every + 1)
    after = datetime.fromtimestamp(after_ms / 1000, tz=UTC)
    run = next(cron_runs(schedule, after), None)
    return None if run is None else round(run.timestamp() * 1000)


def _rate(text: str) -> Rate:
    found = _RATE.fullmatch(text)
    if found is None:
        raise InvalidSchedule(
            f"rate({text}) must be a number above 0 and minutes, hours or days: rate(5 minutes)"
        )
    number, unit, plural = int(found[1]), found[2], found[3]
    if (number == 1) == bool(plural):
        right = f"rate({number} {unit}{'' if number == 1 else 's'})"
        raise InvalidSchedule(f"rate({text}): AWS wants {right}")
    return Rate(timedelta(**{f"{unit}s": number}))
