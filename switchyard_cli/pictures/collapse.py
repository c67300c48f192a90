"""Draws what is alike as one box, until a drawing is small enough to be read."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from switchyard_cli.pictures.drawing import Drawing, Edge, Kind, Node, levels_of

MOST_EDGES: Final = 2_000
ROUNDS: Final = (8, 2, 0)
"""The distances within which parents and children have to be the same for two nodes to be alike."""
FEWEST: Final = 40
SHOWN_NAMES: Final = 3

Groups = dict[Hashable, list[Node]]


def collapsed(drawing: Drawing, *, most: int) -> Drawing:
    """Return a drawing of at most `most` boxes, and not too many lines between them."""
    found = drawing
    for limit in (most, max(FEWEST, most // 3), FEWEST):
        found = _collapsed(drawing, most=min(limit, most))
        if len(found.edges) <= MOST_EDGES:
            return found
    return found


def _collapsed(drawing: Drawing, *, most: int) -> Drawing:
    if len(drawing.nodes) <= most and len(drawing.edges) <= MOST_EDGES:
        return drawing
    levels = levels_of(drawing)
    for rounds in ROUNDS:
        groups = _groups(drawing, levels, rounds)
        if len(groups) <= most:
            return _drawn(drawing, groups)
    return _drawn(drawing, _without_the_middle(drawing, levels, most))


def _groups(drawing: Drawing, levels: Mapping[str, int], rounds: int) -> Groups:
    """Group nodes of one level that are alike, and whose neighbours are alike as well.

    Nodes of one group have one level, so a drawing of groups has no cycle either.
    """
    marks: dict[str, Hashable] = {
        node.name: (levels[node.name], node.kind, node.alike, node.state, node.many)
        for node in drawing.nodes
    }
    for _ in range(rounds):
        before, numbers = marks, dict[Hashable, int]()
        near: defaultdict[str, set[Hashable]] = defaultdict(set)
        for edge in drawing.edges:
            near[edge.target].add(("from", before[edge.source]))
            near[edge.source].add(("to", before[edge.target]))
        whole = {name: (before[name], frozenset(near[name])) for name in before}
        marks = {name: numbers.setdefault(mark, len(numbers)) for name, mark in whole.items()}
        if len(numbers) == len(set(before.values())):
            break
    groups: Groups = defaultdict(list)
    for node in drawing.nodes:
        groups[marks[node.name]].append(node)
    return groups


def _without_the_middle(drawing: Drawing, levels: Mapping[str, int], most: int) -> Groups:
    """Group by levels alone, those of the middle together: there are more levels than boxes."""
    groups: Groups = defaultdict(list)
    last = max(levels.values())
    edge = (most - 1) // 2
    for node in drawing.nodes:
        level = levels[node.name]
        groups["middle" if edge <= level <= last - edge else level].append(node)
    return groups


def _drawn(drawing: Drawing, groups: Groups) -> Drawing:
    nodes = [_one_of(members) for members in groups.values()]
    owner = {
        member.name: node.name
        for node, members in zip(nodes, groups.values(), strict=True)
        for member in members
    }
    return replace(drawing, nodes=nodes, edges=list(_edges_between(drawing.edges, owner)))


def _edges_between(edges: Sequence[Edge], owner: Mapping[str, str]) -> Iterator[Edge]:
    found: dict[tuple[str, str], bool] = {}
    for edge in edges:
        ends = owner[edge.source], owner[edge.target]
        if ends[0] != ends[1]:
            found[ends] = found.get(ends, False) or edge.conditional
    return (Edge(*ends, conditional) for ends, conditional in found.items())


def _one_of(members: Sequence[Node]) -> Node:
    """Return the box that stands for several nodes."""
    first = members[0]
    if len(members) == 1:
        return first
    same = len({(node.kind, node.alike, node.state) for node in members}) == 1
    names = ", ".join(node.title for node in members[:SHOWN_NAMES])
    return Node(
        name=first.name,
        title=f"{len(members):,} of {first.alike}" if same else f"{len(members):,} tasks",
        kind=first.kind if same else Kind.MORE,
        notes=(f"{names}, …" if len(members) > SHOWN_NAMES else names,),
        state=first.state if same else None,
        alike=first.alike,
        count=sum(node.count for node in members),
        many=same and first.many,
    )
