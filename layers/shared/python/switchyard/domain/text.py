"""Text that others wrote, made harmless."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")


def in_slices(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]


MAX_READ: Final = 10_000
"""The most characters of a text that are cleaned for display; far more than is shown of any."""

_STEERING: Final = frozenset({"Cc", "Cf", "Cs"})  # controls, invisible formatting, half characters
_ANSI: Final = re.compile(
    r"""
    (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]        # colours, cursor
    | \x1b\] [^\x07\x1b]* (?: \x07 | \x1b\\ )?     # titles, links
    | \x1b [@-Z\\-_]
    """,
    re.VERBOSE,
)


def without_control_characters(text: str) -> str:
    """Newlines and tabs stay; everything else that could steer a terminal or a reader goes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _STEERING)


def plain_text(text: str) -> str:
    """Remove terminal escape sequences and control characters, for people to read."""
    return without_control_characters(_ANSI.sub("", text[:MAX_READ]))


def clean_values(value: Any) -> Any:
    """A JSON value whose every text, keys included, is without control characters."""
    match value:
        case str():
            return without_control_characters(value)
        case Mapping():
            return {without_control_characters(key): clean_values(v) for key, v in value.items()}
        case list():
            return [clean_values(item) for item in value]
    return value


MAX_COMPARED: Final = 200
"""A longer text is no mistyped name, and comparing it would take as long as its sender likes."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the nearest name; nothing if none is near."""
    if len(given) > MAX_COMPARED:
        return ""
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    plain = {_plain(name): name for name in known}
    near = get_close_matches(_plain(given), plain, n=1, cutoff=0.7)
    return f"; did you mean {plain[near[0]]!r}?" if near and plain[near[0]] != given else ""


def _plain(name: str) -> str:
    """Return the name without case, hyphens and underscores: `depends_on` means `dependsOn`."""
    return "".join(character for character in name.lower() if character.isalnum())
