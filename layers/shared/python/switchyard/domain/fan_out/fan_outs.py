"""A fan-out: a task that makes one task for each item of a list, and gathers what they made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from switchyard.domain.tasks.task import Json

MAX_ITEMS: Final = 10_000
MAX_LEVELS: Final = 2
MAX_LIST_BYTES: Final = 5_000_000
"""The most bytes of JSON that the outputs may have together from which a list is taken."""
MAX_GATHERED_BYTES: Final = 10_000_000
"""The most bytes of JSON that a fan-out's output may have."""
CATEGORY: Final = "fan_out"
"""The category of a fan-out's failure: it could not be expanded, or too few items completed."""

_PERCENT: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?%")
_COUNT: Final = re.compile(r"[0-9]{1,5}")
TOLERANCE_RULE: Final = 'a number of items, like 5, or a share of them, like "5 %"'


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The number of items that may fail without failing their fan-out."""

    count: int = 0
    percent: Decimal | None = None

    @classmethod
    def read(cls, given: str | int) -> "Tolerance":
        """Raise `ValueError` with what is expected."""
        text = str(given).strip()
        share = _PERCENT.fullmatch(text)
        if share and Decimal(share[1]) <= 100:
            return cls(percent=Decimal(share[1]))
        if _COUNT.fullmatch(text) and int(text) <= MAX_ITEMS:
            return cls(count=int(text))
        raise ValueError(f"must be {TOLERANCE_RULE}")

    def of(self, items: int) -> int:
        """Return how many of so many items may fail; a share is rounded down."""
        return self.count if self.percent is None else int(items * self.percent / 100)

    @property
    def none(self) -> bool:
        return not (self.count or self.percent)

    def __str__(self) -> str:
        return str(self.count) if self.percent is None else f"{self.percent} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOut:
    for_each: tuple[str, ...]
    """The references to the lists; the second list is taken from each item of the first."""
    key: tuple[str, ...] = ()
    """The names of items, at each level; an item's number where nothing is said."""
    tolerate: Tolerance = Tolerance()
    of_jobs: bool = False
    """Whether each item is a job of its own; known of what is stored."""
    in_file: bool = False
    """Whether `for_each` is the name of a file, `job/items.jsonl`, instead of an expression."""

    def stored(self, *, of_jobs: bool = False) -> dict[str, Json]:
        """Return what `fan_out_of` reads, without what is as usual."""
        return {
            "for_each": list(self.for_each),
            **({"of_jobs": True} if of_jobs else {}),
            **({"key": list(self.key)} if self.key else {}),
            **({} if self.tolerate.none else {"tolerate": str(self.tolerate)}),
            **({"in_file": True} if self.in_file else {}),
        }


def fan_out_of(stored: Mapping[str, Json] | None) -> FanOut:
    """Read what `FanOut.stored` returned; what a newer version adds is left out."""
    found = dict(stored or {})
    return FanOut(
        for_each=tuple(found.get("for_each", ())),
        key=tuple(found.get("key", ())),
        tolerate=Tolerance.read(found.get("tolerate", 0)),
        of_jobs=bool(found.get("of_jobs", False)),
        in_file=bool(found.get("in_file", False)),
    )
