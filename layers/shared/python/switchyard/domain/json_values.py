"""JSON that others wrote and that we have to keep, send on and show: is it really JSON?"""

import math
from typing import Any, Final

MAX_DEPTH: Final = 64  # more than any sensible document, less than any parser's limit
MAX_VALUES: Final = 100_000
"""Names of members count too. Reading or writing JSON holds Python's lock for as long as it takes:
with so many, a worker's event loop waits for a tenth of a second."""

_NOT_UNICODE: Final = "contains half of a character (a lone surrogate)"

_KINDS: Final = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    dict: "an object",
    list: "a list",
    tuple: "a list",
}


def kind_of(value: Any) -> str:
    """Return what kind of JSON value this is, in the words of a message."""
    return _KINDS.get(type(value), "null")


def problem_in(value: Any) -> str | None:
    """Return why the value cannot be stored, or `None`."""
    waiting, seen = [(value, 1)], 0
    while waiting:
        inner, depth = waiting.pop()
        seen += 1
        problem = _problem(inner, depth) or _crowd(seen + len(waiting), inner)
        if problem:
            return problem
        match inner:
            case dict():
                waiting += [(part, depth + 1) for pair in inner.items() for part in pair]
            case list() | tuple():
                waiting += [(part, depth + 1) for part in inner]
    return None


def _crowd(known: int, value: Any) -> str | None:
    """Return the problem of too many parts, before they are looked at: they may be millions."""
    match value:
        case dict():
            known += 2 * len(value)
        case list() | tuple():
            known += len(value)
    return f"contains more than {MAX_VALUES:,} values" if known > MAX_VALUES else None


def _problem(value: Any, depth: int) -> str | None:
    if depth > MAX_DEPTH:
        return f"is nested more than {MAX_DEPTH} levels deep"
    match value:
        case str():
            return _NOT_UNICODE if not _is_unicode(value) else None
        case float() if not math.isfinite(value):
            return f"contains {value}, which JSON does not have"
        case None | bool() | int() | float() | dict() | list() | tuple():
            return None
    return f"contains a {type(value).__name__}, which JSON does not have"


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
