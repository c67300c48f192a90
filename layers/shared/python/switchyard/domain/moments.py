"""Points in time as people write them: an ISO time, or how long ago."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from switchyard.domain.tasks.task import milliseconds

_SPAN: Final = re.compile(r"([0-9]{1,6})([smhd])")
_LAST_MS: Final = 9_999_999_999_999  # the log's keys sort thirteen digits
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def moment_ms(text: str, *, now_ms: int) -> int:
    """Raise `ValueError` for what is neither."""
    span = _SPAN.fullmatch(text)
    if span:
        ago = timedelta(**{_UNITS[span[2]]: int(span[1])})
        return _stored(now_ms - milliseconds(ago))
    moment = _parsed(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} does not say in which zone; end it in Z for UTC")
    return _stored(round(moment.timestamp() * 1000))


def span_ms(text: str) -> int:
    """Return the milliseconds of a span such as 90s, 15m, 2h or 1d. Raise `ValueError`."""
    span = _SPAN.fullmatch(text)
    if span is None:
        raise ValueError(f"{text!r:.100} is no span like 90s, 15m, 2h or 1d")
    return milliseconds(timedelta(**{_UNITS[span[2]]: int(span[1])}))


def day_of(moment: int) -> str:
    """The day in UTC that a moment in milliseconds is on; later days sort later."""
    return datetime.fromtimestamp(moment / 1000, tz=UTC).date().isoformat()


def end_of_day_ms(day: str) -> int:
    """The midnight that ends it, in UTC."""
    begins = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return round((begins + timedelta(days=1)).timestamp() * 1000)


def _stored(moment: int) -> int:
    return min(max(0, moment), _LAST_MS)


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is neither a time like 2027-01-31T12:00:00Z nor a span like 15m, 2h or 1d"
        ) from None
