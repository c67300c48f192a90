"""Cuts the text of a condition into references, values, words and marks."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from switchyard.domain.errors import InvalidCondition
from switchyard.domain.prompts.references import (
    NotAReference,
    Reference,
    own_reference_at,
    reference_at,
)
from switchyard.domain.tasks.task import Json

EXAMPLE: Final = "${tasks.ID.output.name[0]}"
OWN_EXAMPLE: Final = "${output.name[0]}"
"""A reference of a condition on a task's own output."""
MAX_FOUND: Final = 40  # characters of a mistake that its message shows
MAX_HINT: Final = 120  # characters: a longer one repeats what is too long

_BEGINS: Final = "${tasks."
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_MARK: Final = re.compile(r"[=!<>&|]+|.", re.DOTALL)
_NUMBER_LIKE: Final = re.compile(r"[+-]?\.?[0-9][\w.:+-]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_WORD: Final = re.compile(r"[^\W\d][\w.-]*")
_PIECE: Final = re.compile(
    r"""[^"'\\\x00-\x1f]+ | ["'] | \\(?: ["'\\/bfnrt] | u[0-9a-fA-F]{4} )""", re.VERBOSE
)
_IN_JSON: Final = {'"': '\\"', "\\'": "'"}
"""Pieces of a text that JSON writes in another way."""


class Kind(Enum):
    REFERENCE = auto()
    VALUE = auto()
    WORD = auto()
    MARK = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    start: int
    text: str
    value: Json | Reference = None
    """The reference or the value that the token stands for."""


def mistake(text: str, start: int, found: str, expected: str, hint: str = "") -> InvalidCondition:
    """Describe a mistake by its place, what is there and what should be."""
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    place = f"line {line}, column {column}" if "\n" in text else f"column {column}"
    found = f"{found[: MAX_FOUND - 1]}…" if len(found) > MAX_FOUND else found
    shown = "".join(map(_printable, found))
    end = f"; {hint}" if 0 < len(hint) <= MAX_HINT else ""
    return InvalidCondition(f"{place}: found {shown}, expected {expected}{end}")


def _printable(character: str) -> str:
    return character if character.isprintable() else f"U+{ord(character):04X}"


def tokens_of(text: str, *, own: bool = False) -> Iterator[Token]:
    """Yield the tokens one after the other, and an END. Raise `InvalidCondition`.

    References are to other tasks, or with `own` to the input and the output of the task itself.
    """
    position = _after_blanks(text, 0)
    while position < len(text):
        token = _token_at(text, position, own=own)
        yield token
        position = _after_blanks(text, position + len(token.text))
    yield Token(Kind.END, len(text), "")


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _token_at(text: str, start: int, *, own: bool) -> Token:
    if text.startswith("${", start):
        return _own_reference(text, start) if own else _reference(text, start)
    if text[start] in "\"'":
        return _quoted(text, start)
    if _NUMBER_LIKE.match(text, start):
        return _number(text, start)
    if word := _WORD.match(text, start):
        return Token(Kind.WORD, start, word[0])
    mark = _MARK.match(text, start)
    return Token(Kind.MARK, start, mark[0] if mark else text[start])


def _reference(text: str, start: int) -> Token:
    try:
        if not text.startswith(_BEGINS, start):
            raise NotAReference(text[start:])
        reference = reference_at(text, start)
    except NotAReference as error:
        hint = "a reference ends with }" if "}" not in text[start:] else ""
        raise mistake(text, start, error.shown, f"a reference like {EXAMPLE}", hint) from error
    return Token(Kind.REFERENCE, start, reference.text, reference)


def _own_reference(text: str, start: int) -> Token:
    try:
        reference = own_reference_at(text, start)
    except NotAReference as error:
        raise mistake(text, start, error.shown, f"a reference like {OWN_EXAMPLE}") from error
    return Token(Kind.REFERENCE, start, reference.text, reference)


def _quoted(text: str, start: int) -> Token:
    """Read a text in single or double quotes, with the escapes of JSON and \\'."""
    quote, pieces, position = text[start], [], start + 1
    while (piece := _PIECE.match(text, position)) and piece[0] != quote:
        pieces.append(_IN_JSON.get(piece[0], piece[0]))
        position = piece.end()
    if piece is None:
        raise _broken(text, start, position)
    written = text[start : piece.end()]
    if _BEGINS in written:
        hint = "within quotes it would be plain text; write \\u0024 for a $ as it is"
        raise mistake(text, start, written, "a reference without quotes", hint)
    return Token(Kind.VALUE, start, written, json.loads(f'"{"".join(pieces)}"'))


def _broken(text: str, start: int, position: int) -> InvalidCondition:
    if text.startswith("\\", position) and position + 1 < len(text):
        found, expected = text[position : position + 2], 'an escape of JSON such as \\n or \\"'
        return mistake(text, position, found, expected, "a backslash itself is \\\\")
    hint = "a line break in a text is \\n, a tab \\t" if position < len(text) else ""
    expected = f"a text with a closing {text[start]}"
    return mistake(text, start, text[start:position], expected, hint)


def _number(text: str, start: int) -> Token:
    like = _NUMBER_LIKE.match(text, start)
    written = like[0] if like else ""
    number = _NUMBER.fullmatch(written)
    if number is None:
        raise mistake(text, start, written, "a number as in JSON", f'or the text "{written}"')
    value = float(written) if number[1] or number[2] else int(written)
    if abs(value) == math.inf:
        raise mistake(text, start, written, "a number up to 1.7e308")
    return Token(Kind.VALUE, start, written, value)
