"""Reads the list of a fan-out from a file of JSON Lines: one JSON value on each line.

The file is a tenant's or an agent's: its size, its lines and what is in them are bounded, and it is
read piece by piece, so that a large one is refused before all of it is in memory.
"""

import json
from typing import Any, Final

from switchyard.domain.fan_out.fan_outs import MAX_ITEMS, MAX_LIST_BYTES
from switchyard.domain.fan_out.items import NotExpandable
from switchyard.domain.json_values import problem_in
from switchyard.domain.tasks.task import Json

MAX_LINE_BYTES: Final = 200_000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SPLIT: Final = "split the list, or let an item stand for several"


class JsonLines:
    """Takes a file in pieces, and has its values at the end. Methods raise `NotExpandable`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._values: list[Json] = []
        self._rest = b""
        self._bytes = 0
        self._line = 0
        self._empty: int | None = None

    def add(self, piece: bytes) -> None:
        self._bytes += len(piece)
        if self._bytes > MAX_LIST_BYTES:
            raise NotExpandable(too_large(self._name, self._bytes))
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._read(line)
        if len(self._rest) > MAX_LINE_BYTES:
            self._read(self._rest)

    def values(self) -> list[Json]:
        """Return the values of all lines, when all pieces were added."""
        self._read(self._rest)
        self._rest = b""
        return self._values

    def _read(self, line: bytes) -> None:
        self._line += 1
        if self._line == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if len(line) > MAX_LINE_BYTES:
            raise self._wrong(f"has more than {MAX_LINE_BYTES:,} bytes; let it name what is long")
        if not line.strip():
            self._empty = self._empty or self._line
            return
        if self._empty is not None:
            self._line = self._empty
            raise self._wrong("is empty; only the end of the file may have empty lines")
        if len(self._values) == MAX_ITEMS:
            said = f"has more than {MAX_ITEMS:,} items, which is the most that a fan-out makes"
            raise NotExpandable(f"forEach: {self._name} {said}: {_SPLIT}")
        self._values.append(self._value(line))

    def _value(self, line: bytes) -> Json:
        try:
            value = json.loads(line.decode(), parse_constant=_no_constant)
        except UnicodeDecodeError:
            raise self._wrong("is not UTF-8") from None
        except json.JSONDecodeError as error:
            raise self._wrong(f"is not JSON: {error.msg}, at column {error.colno}") from None
        except RecursionError:
            raise self._wrong("is nested too deeply") from None
        except ValueError as error:  # a constant, or an integer with thousands of digits
            raise self._wrong(f"is not JSON: {error}") from None
        problem = problem_in(value)
        if problem:
            raise self._wrong(problem)
        return value

    def _wrong(self, said: str) -> NotExpandable:
        return NotExpandable(f"forEach: line {self._line:,} of {self._name} {said}")


def too_large(name: str, size: int) -> str:
    """Say that a file has more bytes than a list may have."""
    more = f"has {size:,} bytes or more; a list in a file has at most {MAX_LIST_BYTES:,}"
    return f"forEach: {name} {more}: {_SPLIT}"


def _no_constant(text: str) -> Any:
    raise ValueError(f"it has no {text}")
