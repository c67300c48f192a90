"""Draws on a terminal: a line for each box, further to the right the later it can run."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from switchyard_cli.pictures.collapse import collapsed
from switchyard_cli.pictures.drawing import GLYPHS, Drawing, Kind, Node, levels_of
from switchyard_cli.terminal import clean

MOST_LINES: Final = 60
MOST_PARENTS: Final = 4
DEEPEST: Final = 10
"""The deepest level that is indented; levels beyond it are drawn where this one is."""
_WORDS: Final = {Kind.TASK: "agent or code", Kind.MORE: "several tasks"}


def text_lines(drawing: Drawing) -> list[str]:
    """Return the lines of a drawing: bounded in number, and free of control characters."""
    shown = collapsed(drawing, most=MOST_LINES)
    levels = levels_of(shown)
    titles = {node.name: node.title for node in shown.nodes}
    parents: defaultdict[str, list[str]] = defaultdict(list)
    for edge in shown.edges:
        parents[edge.target].append(titles[edge.source])
    ordered = sorted(shown.nodes, key=lambda node: levels[node.name])
    return [
        *(_line(node, levels[node.name], parents[node.name]) for node in ordered),
        _legend(shown),
    ]


def _line(node: Node, level: int, parents: list[str]) -> str:
    space = "   " * max(0, min(level, DEEPEST) - 1)
    branch = "└─ " if level else ""
    stack = "▤ " if node.many else ""
    parts = [node.title, *node.notes]
    if parents:
        more = len(parents) - MOST_PARENTS
        others = f" and {more} more" if more > 0 else ""
        parts.append(f"after {', '.join(parents[:MOST_PARENTS])}{others}")
    return f"{space}{branch}{stack}{GLYPHS[node.kind]} {'; '.join(map(clean, parts))}"


def _legend(drawing: Drawing) -> str:
    kinds = [kind for kind in Kind if any(node.kind is kind for node in drawing.nodes)]
    signs = [f"{GLYPHS[kind]} {_WORDS.get(kind, kind.value)}" for kind in kinds]
    if any(node.many for node in drawing.nodes):
        signs.append("▤ one per item, count not known yet")
    return "  ".join(signs)
