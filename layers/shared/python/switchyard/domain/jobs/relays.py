"""Relays: hidden tasks that stand for others, so that no item names more than a hundred.

An item that named ten thousand would be written ten thousand times, each time as a whole.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from switchyard.domain.ids import HIDDEN_PREFIX, RELAY_PREFIX, is_made_by
from switchyard.domain.jobs.limits import MAX_NAMES

Edges = Mapping[str, Sequence[str]]
"""The dependents of each task, by its id."""


def compile_edges(
    dependents: Edges, *, prefix: str = RELAY_PREFIX, suffix: str = "", fan_in: int = MAX_NAMES
) -> dict[str, tuple[str, ...]]:
    """The same edges, with trees of relays where more than `fan_in` come or `MAX_NAMES` go.

    Tasks with the same parents share one tree. The same edges make the same relays, named
    `{prefix}{n}{suffix}`, wherever they are compiled.
    """
    names = (f"{prefix}{n}{suffix}" for n in count())
    return _with_narrow_fan_out(_with_narrow_fan_in(dependents, names, fan_in), names)


def parents_of(dependents: Edges) -> dict[str, tuple[str, ...]]:
    """The same edges, seen from those that depend."""
    parents: defaultdict[str, list[str]] = defaultdict(list)
    for parent, children in dependents.items():
        for child in children:
            parents[child].append(parent)
    return {child: tuple(names) for child, names in parents.items()}


def declared_parents(dependents: Edges) -> dict[str, tuple[str, ...]]:
    """Return declared parents: relays are looked through, `__start__` and `__end__` left out.

    That a task waits for those that it made is not declared.
    """
    parents = parents_of(_without_items(dependents))
    behind: dict[str, tuple[str, ...]] = {}
    declared = {
        child: tuple(sorted(set(_visible(parents, child, behind))))
        for child in parents
        if not child.startswith(HIDDEN_PREFIX)
    }
    return {child: names for child, names in declared.items() if names}


def _without_items(dependents: Edges) -> Edges:
    return {
        parent: tuple(name for name in after if not is_made_by(parent, name))
        for parent, after in dependents.items()
    }


def _visible(parents: Edges, child: str, behind: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Look through relays; trees of relays are shallow, and each relay is looked up once."""
    for parent in parents.get(child, ()):
        if not parent.startswith(HIDDEN_PREFIX):
            yield parent
            continue
        if parent not in behind:
            behind[parent] = tuple(_visible(parents, parent, behind))
        yield from behind[parent]


def _with_narrow_fan_in(dependents: Edges, names: Iterator[str], most: int) -> dict[str, list[str]]:
    narrow: dict[str, list[str]] = {parent: [] for parent in dependents}
    standing_for: dict[tuple[str, ...], tuple[str, ...]] = {}
    for child, parents in parents_of(dependents).items():
        if parents not in standing_for:
            standing_for[parents] = _gathered(parents, narrow, names, most)
        for parent in standing_for[parents]:
            narrow[parent].append(child)
    return narrow


def _gathered(
    parents: tuple[str, ...], narrow: dict[str, list[str]], names: Iterator[str], most: int
) -> tuple[str, ...]:
    """Return few enough to be waited for: the parents themselves, or relays that wait for them."""
    while len(parents) > most:
        groups = {next(names): group for group in _groups(parents, most)}
        for relay, group in groups.items():
            narrow[relay] = []
            for parent in group:
                narrow[parent].append(relay)
        parents = tuple(groups)
    return parents


def _with_narrow_fan_out(dependents: Edges, names: Iterator[str]) -> dict[str, tuple[str, ...]]:
    narrow: dict[str, tuple[str, ...]] = {}
    for parent, children in dependents.items():
        emitted = tuple(children)
        while len(emitted) > MAX_NAMES:
            groups = {next(names): group for group in _groups(emitted, MAX_NAMES)}
            narrow |= groups
            emitted = tuple(groups)
        narrow[parent] = emitted
    return narrow


def _groups(names: tuple[str, ...], most: int) -> list[tuple[str, ...]]:
    """Split the names into as few groups as possible, all of about the same size."""
    total, groups = len(names), -(-len(names) // most)
    return [names[n * total // groups : (n + 1) * total // groups] for n in range(groups)]
