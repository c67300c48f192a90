"""Patterns for the detail of an event: a part of EventBridge's pattern language.

Every field of a pattern has to match. A field's list says what it may be: a value, or one of the
operators `prefix`, `exists` and `anything-but`. A list in an event matches if one of its values
does, and of a list of objects one object has to match as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from switchyard.domain.json_values import kind_of
from switchyard.domain.tasks.task import Json

MAX_DEPTH: Final = 8
MAX_VALUES: Final = 100
"""The most values and operators that the lists of a pattern may have together."""
MAX_TEXT: Final = 1_000
MAX_COMPARISONS: Final = 100_000
"""The most values of an event that are compared; an event that needs more does not match."""

PREFIX: Final = "prefix"
EXISTS: Final = "exists"
ANYTHING_BUT: Final = "anything-but"
_OPERATORS: Final = f"{PREFIX}, {EXISTS} and {ANYTHING_BUT}"

Scalar = str | int | float | bool | None


def detail_problem(pattern: Json) -> str | None:
    """Say what is wrong with the pattern of a detail, with the place; `None` if nothing is."""
    problem = next(_problems(pattern, "detail", 1), None)
    if problem is None and sum(1 for _ in _entries(pattern)) > MAX_VALUES:
        return f"detail: has more than {MAX_VALUES} values: wait for fewer"
    return problem


def _problems(pattern: Json, place: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield f"{place}: is nested more than {MAX_DEPTH} levels deep"
    elif isinstance(pattern, Mapping) and pattern:
        for name, inner in pattern.items():
            below = f"{place}.{name[:40]}"
            if name.startswith("$"):
                yield f"{below}: is no field that is compared; $or is not supported"
            yield from _problems(inner, below, depth + 1)
    elif isinstance(pattern, list | tuple) and pattern and depth > 1:
        yield from (f"{place}: {said}" for said in map(_entry_problem, pattern) if said)
    else:
        form = "a list of what matches, or " if depth > 1 else ""
        yield f"{place}: must be {form}an object with at least one field, like orderId: [17]"


def _entry_problem(entry: Json) -> str | None:
    match entry:
        case {"prefix": str() as text, **more} if not more:
            return _scalar_problem(text) if text else "prefix must not be empty: ask exists"
        case {"exists": bool(), **more} if not more:
            return None
        case {"anything-but": {"prefix": str() as text, **inner}, **more} if not inner and not more:
            return _scalar_problem(text) if text else "prefix must not be empty: ask exists"
        case {"anything-but": list() | tuple() as given, **more} if given and not more:
            return next(filter(None, map(_scalar_problem, given)), None)
        case {"anything-but": str() | int() | float() as given, **more} if not more:
            return _scalar_problem(given)
        case Mapping():
            named = ", ".join(str(name)[:40] for name in list(entry)[:3])
            return f"{{{named}}} is no operator that is known: {_OPERATORS} are"
    return _scalar_problem(entry)


def _scalar_problem(value: Json) -> str | None:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"a text has {len(value):,} characters; at most {MAX_TEXT:,} are compared"
    if value is None or isinstance(value, str | int | float | bool):
        return None
    return f"{kind_of(value)} cannot be compared: a value is a text, a number, true, false or null"


def _entries(pattern: Json) -> Iterator[Json]:
    match pattern:
        case {"anything-but": list() | tuple() as given}:
            yield from given
        case Mapping():
            for inner in pattern.values():
                yield from _entries(inner)
        case list() | tuple():
            for entry in pattern:
                yield from _entries(entry)
        case _:
            yield pattern


def detail_matches(pattern: Mapping[str, Json] | None, detail: Json) -> bool:
    """Return whether the detail of an event matches; without a pattern, every one does."""
    try:
        return pattern is None or _Comparison().fields(pattern, detail)
    except _TooMany:
        return False


class _TooMany(Exception):
    pass


class _Comparison:
    def __init__(self) -> None:
        self._left = MAX_COMPARISONS

    def fields(self, pattern: Mapping[str, Json], value: Json) -> bool:
        """Compare an object, or each object of a list; what is none has no fields."""
        objects = [one for one in self._flat(value) if isinstance(one, Mapping)] or [{}]
        return any(self._object(pattern, one) for one in objects)

    def _object(self, pattern: Mapping[str, Json], value: Mapping[str, Json]) -> bool:
        for name, inner in pattern.items():
            there = [value[name]] if name in value else []
            if isinstance(inner, Mapping):
                if not self.fields(inner, there):
                    return False
            elif not self._values(inner, there):
                return False
        return True

    def _values(self, entries: Sequence[Json], there: list[Json]) -> bool:
        values = [one for one in self._flat(there) if not isinstance(one, Mapping)]
        return any(self._entry(entry, values) for entry in entries)

    def _entry(self, entry: Json, values: Sequence[Scalar]) -> bool:
        self._count(len(values))
        match entry:
            case {"exists": wanted}:
                return bool(values) is wanted
            case {"prefix": str() as beginning}:
                return any(_begins(value, beginning) for value in values)
            case {"anything-but": {"prefix": str() as beginning}}:
                return any(not _begins(value, beginning) for value in values)
            case {"anything-but": list() | tuple() as others}:
                return any(not _among(value, others) for value in values)
            case {"anything-but": other}:
                return any(not _equal(value, other) for value in values)
        return any(_equal(value, entry) for value in values)

    def _flat(self, value: Json) -> Iterator[Json]:
        """Yield a value, or those of a list and of the lists in it."""
        waiting = [value]
        while waiting:
            self._count(1)
            inner = waiting.pop()
            if isinstance(inner, list | tuple):
                self._count(len(inner))
                waiting += inner
            else:
                yield inner

    def _count(self, compared: int) -> None:
        self._left -= compared
        if self._left < 0:
            raise _TooMany


def _begins(value: Scalar, beginning: str) -> bool:
    return isinstance(value, str) and value.startswith(beginning)


def _among(value: Scalar, others: Sequence[Json]) -> bool:
    return any(_equal(value, other) for other in others)


def _equal(one: Json, other: Json) -> bool:
    """Compare as JSON does: 1 equals 1.0, and true does not equal 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return (type(one) is type(other) and one == other) or _numbers(one, other)


def _numbers(one: Json, other: Json) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and one == other
