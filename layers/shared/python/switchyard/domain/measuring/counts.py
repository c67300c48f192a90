"""Adds up events into counts for each minute."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final

MINUTE_MS: Final = 60_000
UNKNOWN: Final = "unknown"
"""The definition of what an older event does not name."""
OTHER: Final = "other"
"""The definitions for which there was no room, together. Every name of a metric costs money."""
MOST_DEFINITIONS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The tokens and dollars that attempts used, whether or not they completed."""

    cost_micro_usd: int = 0
    """The cost in millionths of a dollar: whole numbers add up exactly, in any order."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0

    @property
    def cost_usd(self) -> float:
        return self.cost_micro_usd / 1_000_000

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(**{name: getattr(self, name) + getattr(other, name) for name in SPENT})


SPENT: Final = tuple(one.name for one in fields(Spending))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    claims: int = 0
    completions: int = 0
    verified: int = 0
    """Completed tasks whose commitments were all found met."""
    failures: int = 0
    """Tasks, once no attempt is left; those that timed out are counted apart."""
    failed_attempts: int = 0
    """The number of failed attempts that another one followed."""
    timeouts: int = 0
    timed: int = 0
    """Attempts whose duration is known."""
    processing_ms: int = 0
    """The time that those attempts took together."""
    by_definition: Mapping[str, Spending] = field(default_factory=dict)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            **{name: getattr(self, name) + getattr(other, name) for name in COUNTED},
            by_definition=_together([*self.by_definition.items(), *other.by_definition.items()]),
        )


COUNTED: Final = tuple(one.name for one in fields(Counts) if one.name != "by_definition")


def minute_of(moment_ms: int) -> int:
    return moment_ms - moment_ms % MINUTE_MS


def dearest(
    spending: Mapping[str, Spending], *, at_most: int = MOST_DEFINITIONS
) -> dict[str, Spending]:
    """Order by cost, then by tokens; the cheapest share the last place if there are too many."""
    ordered = sorted(
        spending.items(), key=lambda one: (-one[1].cost_micro_usd, -one[1].tokens, one[0])
    )
    if len(ordered) <= at_most:
        return dict(ordered)
    stored, rest = ordered[: at_most - 1], ordered[at_most - 1 :]
    return _together([*stored, *((OTHER, spent) for _, spent in rest)])


def _together(spending: Iterable[tuple[str, Spending]]) -> dict[str, Spending]:
    found: dict[str, Spending] = {}
    for name, spent in spending:
        found[name] = found.get(name, Spending()) + spent
    return found
