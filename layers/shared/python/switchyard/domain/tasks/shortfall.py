"""Who did not complete, in few words: `did not complete: a, b, c and 7 more`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from switchyard.domain.ids import TASK_ID

MAX_NAMED: Final = 10

_WORDS: Final = re.compile(
    rf"did not complete: ({TASK_ID.pattern}(?:, {TASK_ID.pattern})*)(?: and (\d+) more)?"
)


@dataclass(frozen=True, slots=True)
class Shortfall:
    names: tuple[str, ...] = ()
    """The first few in alphabetical order."""
    more: int = 0

    @classmethod
    def of(cls, names: Iterable[str], others: Iterable[Self] = ()) -> Self:
        """These and what relays have told, which named their first few as well."""
        told = list(others)
        named = sorted({*names, *(name for other in told for name in other.names)})
        unnamed = sum(other.more for other in told) + max(0, len(named) - MAX_NAMED)
        return cls(tuple(named[:MAX_NAMED]), unnamed)

    @classmethod
    def read(cls, text: str) -> Self:
        """What `str` wrote; nothing, if it was somebody else."""
        match = _WORDS.fullmatch(text)
        return cls(tuple(match[1].split(", ")), int(match[2] or 0)) if match else cls()

    def __str__(self) -> str:
        more = f" and {self.more} more" if self.more else ""
        return f"did not complete: {', '.join(self.names)}{more}"
