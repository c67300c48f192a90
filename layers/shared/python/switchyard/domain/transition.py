"""A change of a task, a job or a limit: what must still hold, what it writes, when it is due next.

`domain/tasks/transitions.py` and `domain/jobs/transitions.py` make them. A store writes one in a
single conditional write, or refuses it; nothing else changes a task or a job.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeVar

from switchyard.domain.jobs.job import Job
from switchyard.domain.scheduling.limits import Limit
from switchyard.domain.tasks.task import Task

Entity = TypeVar("Entity", Task, Job, Limit)
Stored = Task | Job | Limit
Sign = Literal["=", "<", "<=", ">="]

_SIGNS: Final[Mapping[Sign, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">=": operator.ge,
}


def is_empty(value: object) -> bool:
    """Return whether a field with this value is not stored: DynamoDB has no empty sets."""
    return value is None or value is False or value in ("", frozenset(), {}, ())


@dataclass(frozen=True, slots=True)
class OtherField:
    """Another field of the same item, to compare with."""

    name: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The stored field compares like this with a value. A field that is not stored never does."""

    field: str
    sign: Sign
    value: Any

    def holds(self, item: Stored | None) -> bool:
        found = getattr(item, self.field, None)
        other = self.value
        if isinstance(other, OtherField):
            other = getattr(item, other.name, None)
        return not is_empty(found) and _SIGNS[self.sign](found, other)


@dataclass(frozen=True, slots=True)
class OneOf:
    field: str
    values: tuple[Any, ...]

    def holds(self, item: Stored | None) -> bool:
        return getattr(item, self.field, None) in self.values


@dataclass(frozen=True, slots=True)
class Contains:
    """The stored set has this member."""

    field: str
    member: str

    def holds(self, item: Stored | None) -> bool:
        return self.member in getattr(item, self.field, ())


@dataclass(frozen=True, slots=True)
class Sized:
    """The stored set has so many members. One that is not stored never has."""

    field: str
    sign: Sign
    number: int

    def holds(self, item: Stored | None) -> bool:
        found = getattr(item, self.field, ())
        return bool(found) and _SIGNS[self.sign](len(found), self.number)


@dataclass(frozen=True, slots=True)
class Present:
    field: str

    def holds(self, item: Stored | None) -> bool:
        return not is_empty(getattr(item, self.field, None))


@dataclass(frozen=True, slots=True)
class Absent:
    field: str

    def holds(self, item: Stored | None) -> bool:
        return is_empty(getattr(item, self.field, None))


@dataclass(frozen=True, slots=True)
class NoItem:
    """A term that holds if nothing is stored under the key."""

    def holds(self, item: Stored | None) -> bool:
        return item is None


@dataclass(frozen=True, slots=True)
class AnyOf:
    alternatives: "tuple[Guard, ...]"

    def holds(self, item: Stored | None) -> bool:
        return any(holds(guard, item) for guard in self.alternatives)


Term = Compared | OneOf | Contains | Sized | Present | Absent | NoItem | AnyOf
Guard = tuple[Term, ...]
"""A condition of a transition: all of its terms have to hold."""


class Due(Enum):
    """The effect of a transition on a due time that it does not set."""

    UNCHANGED = "unchanged"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    name: str
    guard: Guard
    sets: Mapping[str, Any] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    adds: Mapping[str, int | frozenset[str]] = field(default_factory=dict)
    """Numbers are added to the field, members join its set."""
    deletes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The members that leave each set."""
    due: int | Due = Due.UNCHANGED
    """The due time `due_at_ms` from now on."""
    already: Guard | None = None
    """The guard that holds of an item to which this very transition was written: a caller that asks
    again is answered with that item. `None`: no guard shows it."""
    still_open: Guard | None = None
    """The guard that holds of an item to which the transition may still be written by a request
    whose answer was lost. `None`: the transition's own guard."""

    def was_written_to(self, item: Stored) -> bool:
        return self.already is not None and holds(self.already, item)

    def may_still_happen_to(self, item: Stored) -> bool:
        return holds(self.guard if self.still_open is None else self.still_open, item)


@dataclass(frozen=True, slots=True)
class TransitionRefused(Generic[Entity]):
    """The guard did not hold."""

    reason: str
    found: Entity | None
    """The item as it is; `None` if there is none."""


def equal(name: str, value: Any) -> Compared:
    return Compared(name, "=", value)


def below(name: str, value: Any) -> Compared:
    return Compared(name, "<", value)


def at_most(name: str, value: Any) -> Compared:
    return Compared(name, "<=", value)


def at_least(name: str, value: Any) -> Compared:
    return Compared(name, ">=", value)


def same(name: str, value: Any) -> Compared | Absent:
    """The field is as it was read, be it that it was not stored."""
    return Absent(name) if is_empty(value) else equal(name, value)


def holds(guard: Guard, item: Stored | None) -> bool:
    return all(term.holds(item) for term in guard)


def attempt(item: Entity | None, transition: Transition) -> Entity | TransitionRefused[Entity]:
    """Return the item as the transition leaves it, as a conditional write would."""
    if item is None:
        return TransitionRefused("there is no such item", None)
    if holds(transition.guard, item):
        return applied(item, transition)
    return item if transition.was_written_to(item) else refusal(item, transition)


def refusal(item: Entity | None, transition: Transition) -> TransitionRefused[Entity]:
    """Say which part of the guard does not hold for the item."""
    if item is None:
        return TransitionRefused("there is no such item", None)
    failed = [term for term in transition.guard if not term.holds(item)]
    reported = described(tuple(failed)) or "the item has changed since"
    return TransitionRefused(f"{transition.name} needs: {reported}", item)


def applied(item: Entity, transition: Transition) -> Entity:
    """Return the item with everything that the transition writes, whatever its guard says."""
    changes = {
        **transition.sets,
        **{name: _default(item, name) for name in transition.removes},
        **{name: _added(item, name, more) for name, more in transition.adds.items()},
        **{name: getattr(item, name) - gone for name, gone in transition.deletes.items()},
    }
    match transition.due:
        case int() as due_at_ms:
            changes["due_at_ms"] = due_at_ms
        case Due.REMOVED:
            changes["due_at_ms"] = None
    return replace(item, **changes)


def described(guard: Guard, word: Callable[[Any], str] = str) -> str:
    """Put a guard into words; `word` is called for each value in it."""
    return " and ".join(_words(term, word) for term in guard)


def _words(term: Term, word: Callable[[Any], str]) -> str:
    match term:
        case Compared(name, sign, value):
            other = value.name if isinstance(value, OtherField) else word(value)
            return f"{name} {sign} {other}"
        case OneOf(name, values):
            return f"{name} is {' or '.join(map(word, values))}"
        case Contains() | Sized():
            return _words_of_set(term, word)
        case Present(name):
            return f"{name} is there"
        case Absent(name):
            return f"no {name}"
        case NoItem():
            return "no item"
        case AnyOf(alternatives):
            texts = [(len(guard) > 1, described(guard, word)) for guard in alternatives]
            return f"({' or '.join(f'({t})' if several else t for several, t in texts)})"


def _words_of_set(term: Contains | Sized, word: Callable[[Any], str]) -> str:
    if isinstance(term, Contains):
        return f"{term.field} has {word(term.member)}"
    return f"{term.field} are {term.sign} {word(term.number)}"


def _default(item: Stored, name: str) -> Any:
    (found,) = (one for one in fields(item) if one.name == name)
    return found.default if found.default_factory is MISSING else found.default_factory()


def _added(item: Stored, name: str, more: int | frozenset[str]) -> Any:
    before = getattr(item, name)
    return before | more if isinstance(more, frozenset) else before + more
