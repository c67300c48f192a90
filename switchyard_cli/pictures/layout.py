"""Places boxes in columns, from left to right, so that few lines cross.

A line that passes a column has a place of its own there, like a flat box (Sugiyama's method). The
same drawing is always placed in the same way.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard_cli.pictures.drawing import Drawing, Edge, levels_of

BOX_WIDTH: Final = 250
COLUMN_GAP: Final = 70
ROW_GAP: Final = 18
PASSING_HEIGHT: Final = 6
SWEEPS: Final = 6
SETTLING: Final = 4
MOST_PASSING: Final = 5_000
"""The most lines that pass columns; beyond it lines go straight from box to box."""

Key = tuple[str, ...]
"""A box by its name, or the place where a line passes a column by both its ends and the column."""


@dataclass(frozen=True, slots=True)
class Place:
    x: float
    y: float
    """The middle of the box."""
    height: float

    @property
    def top(self) -> float:
        return self.y - self.height / 2


@dataclass(frozen=True, slots=True)
class Line:
    edge: Edge
    points: tuple[tuple[float, float], ...]
    """The points where the line begins, where it passes columns, and where it ends."""


@dataclass(frozen=True, slots=True)
class Layout:
    width: float
    height: float
    boxes: Mapping[str, Place]
    lines: Sequence[Line]


def placed(drawing: Drawing, heights: Mapping[str, float]) -> Layout:
    """Place every node of a drawing, whose boxes have these heights."""
    levels = levels_of(drawing)
    ways = [_way(edge, levels) for edge in drawing.edges]
    if sum(len(way) - 2 for way in ways) > MOST_PASSING:
        ways = [[way[0], way[-1]] for way in ways]
    columns = _columns(drawing, levels, ways)
    neighbours = _neighbours(ways)
    _reduce_crossings(columns, neighbours)
    tall: dict[Key, float] = {(name,): height for name, height in heights.items()}
    middles = _middles(columns, neighbours, tall)
    places = {
        key: Place(column * (BOX_WIDTH + COLUMN_GAP), middles[key], tall.get(key, PASSING_HEIGHT))
        for column, keys in enumerate(columns)
        for key in keys
    }
    top = min((place.top for place in places.values()), default=0)
    moved = {key: Place(one.x, one.y - top, one.height) for key, one in places.items()}
    return Layout(
        width=len(columns) * (BOX_WIDTH + COLUMN_GAP) - COLUMN_GAP,
        height=max((one.y + one.height / 2 for one in moved.values()), default=0),
        boxes={key[0]: one for key, one in moved.items() if len(key) == 1},
        lines=[
            Line(edge, tuple(_points(way, moved)))
            for edge, way in zip(drawing.edges, ways, strict=True)
        ],
    )


def _way(edge: Edge, levels: Mapping[str, int]) -> list[Key]:
    between = range(levels[edge.source] + 1, levels[edge.target])
    passing: list[Key] = [(edge.source, edge.target, str(level)) for level in between]
    return [(edge.source,), *passing, (edge.target,)]


def _columns(
    drawing: Drawing, levels: Mapping[str, int], ways: Iterable[Sequence[Key]]
) -> list[list[Key]]:
    columns: list[list[Key]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
    for node in drawing.nodes:
        columns[levels[node.name]].append((node.name,))
    for way in ways:
        for key in way[1:-1]:
            columns[int(key[2])].append(key)
    return columns


def _neighbours(ways: Iterable[Sequence[Key]]) -> dict[Key, list[Key]]:
    found: defaultdict[Key, list[Key]] = defaultdict(list)
    for way in ways:
        for one, other in itertools.pairwise(way):
            found[one].append(other)
            found[other].append(one)
    return found


def _reduce_crossings(columns: list[list[Key]], neighbours: Mapping[Key, list[Key]]) -> None:
    """Order each column by the middle of its neighbours in the one before, there and back."""
    for sweep in range(SWEEPS):
        order = range(1, len(columns)) if sweep % 2 == 0 else range(len(columns) - 2, -1, -1)
        for column in order:
            other = columns[column - 1 if sweep % 2 == 0 else column + 1]
            rank = {key: number for number, key in enumerate(other)}
            own = {key: number for number, key in enumerate(columns[column])}
            columns[column].sort(
                key=lambda key, rank=rank, own=own: _middle(  # type: ignore[misc]
                    [rank[near] for near in neighbours.get(key, ()) if near in rank], own[key]
                )
            )


def _middle(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def _middles(
    columns: Sequence[Sequence[Key]],
    neighbours: Mapping[Key, list[Key]],
    tall: Mapping[Key, float],
) -> dict[Key, float]:
    """Return how far down each is: near its neighbours, in order, and over no other."""
    middles: dict[Key, float] = {}
    for keys in columns:
        middles |= _apart(keys, dict.fromkeys(keys, 0.0), tall)
    for turn in range(SETTLING):
        for keys in columns if turn % 2 == 0 else reversed(columns):
            wanted = {
                key: _middle([middles[near] for near in neighbours.get(key, ())], middles[key])
                for key in keys
            }
            middles |= _apart(keys, wanted, tall)
    return middles


def _apart(
    keys: Sequence[Key], wanted: Mapping[Key, float], tall: Mapping[Key, float]
) -> dict[Key, float]:
    """Move a column apart where it overlaps, and back so that it stays where it was wanted."""
    found: dict[Key, float] = {}
    bottom = float("-inf")
    for key in keys:
        half = tall.get(key, PASSING_HEIGHT) / 2
        found[key] = max(wanted[key], bottom + half)
        bottom = found[key] + half + ROW_GAP
    shift = _middle([wanted[key] - found[key] for key in keys], 0.0)
    return {key: y + shift for key, y in found.items()}


def _points(way: Sequence[Key], places: Mapping[Key, Place]) -> Iterable[tuple[float, float]]:
    begin, end = places[way[0]], places[way[-1]]
    yield begin.x + BOX_WIDTH, begin.y
    for key in way[1:-1]:
        place = places[key]
        yield place.x, place.y
        yield place.x + BOX_WIDTH, place.y
    yield end.x, end.y
