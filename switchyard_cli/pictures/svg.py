"""Draws an SVG picture: legible in light and dark, with words beside every colour."""

import itertools
from collections.abc import Iterator
from textwrap import wrap
from typing import Final
from xml.sax.saxutils import escape

from switchyard_cli.pictures.collapse import collapsed
from switchyard_cli.pictures.drawing import GLYPHS, Drawing, Kind, Node
from switchyard_cli.pictures.layout import BOX_WIDTH, Line, Place, placed
from switchyard_cli.terminal import clean

MOST_BOXES: Final = 300
NOTE_LINES: Final = 3
"""The most lines of one note."""
MOST_LINES: Final = 8
TITLE_CHARACTERS: Final = 28
NOTE_CHARACTERS: Final = 38
MARGIN: Final = 24
HEAD: Final = 60
LEGEND_LINE: Final = 20
TITLE_LINE: Final = 20
NOTE_LINE: Final = 15
PADDING: Final = 10
NARROWEST: Final = 520

_STATES: Final = {
    "waiting": ("#f4f4f5", "#a1a1aa", "·"),
    "pending": ("#e0f2fe", "#0284c7", "○"),
    "processing": ("#dbeafe", "#2563eb", "●"),
    "held": ("#cffafe", "#0e7490", "◇"),
    "retrying": ("#fef9c3", "#ca8a04", "↻"),
    "completed": ("#dcfce7", "#16a34a", "✔"),
    "failed": ("#fee2e2", "#dc2626", "✘"),
    "skipped": ("#f4f4f5", "#71717a", "⊘"),
    "cancelled": ("#fae8ff", "#a21caf", "■"),
}
"""Fill, line and sign of a box by its task's status; its text is dark on all of them."""
_PLAIN: Final = ("#ffffff", "#52525b", "")
_KIND_WORDS: Final = {Kind.TASK: "agent or code", Kind.MORE: "several tasks"}
_STYLE: Final = """
.page { fill: #ffffff; } .ink { fill: #18181b; } .dim { fill: #52525b; }
.line { fill: none; stroke: #71717a; stroke-width: 1.3; } .tip { fill: #71717a; }
.box text { fill: #18181b; } .box .dim { fill: #3f3f46; } .box rect { stroke-width: 1.5; }
text { font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; font-size: 11px; }
.name { font-size: 13px; font-weight: 600; } .heading { font-size: 17px; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  .page { fill: #18181b; } .ink { fill: #fafafa; } .dim { fill: #d4d4d8; }
  .line { stroke: #a1a1aa; } .tip { fill: #a1a1aa; }
}
"""


def svg_of(drawing: Drawing) -> str:
    """Return a picture of a bounded size: what is alike becomes one box if there is too much."""
    shown = collapsed(drawing, most=MOST_BOXES)
    heights = {node.name: _height(node) for node in shown.nodes}
    layout = placed(shown, heights)
    width = max(layout.width, NARROWEST) + 2 * MARGIN
    height = HEAD + layout.height + LEGEND_LINE + 3 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{_safe(drawing.title, 200)}</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="tip" d="M0,0 L8,4 L0,8 z"/></marker></defs>',
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>',
        *_head(drawing, len(shown.nodes)),
        f'<g transform="translate({MARGIN},{HEAD + MARGIN / 2:.0f})">',
        *(_drawn_line(line) for line in layout.lines),
        *(part for node in shown.nodes for part in _box(node, layout.boxes[node.name])),
        "</g>",
        f'<g transform="translate({MARGIN},{HEAD + layout.height + 2 * MARGIN:.0f})">',
        *_legend(shown),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(drawing: Drawing, boxes: int) -> Iterator[str]:
    yield _text(drawing.title, MARGIN, 32, "ink heading", 100)
    facts = list(drawing.facts)
    if boxes < len(drawing.nodes):
        facts.append(f"{len(drawing.nodes):,} tasks in {boxes} boxes: what is alike is one box")
    yield _text("; ".join(facts), MARGIN, 52, "dim", 160)


def _height(node: Node) -> float:
    return TITLE_LINE + NOTE_LINE * len(_lines(node)) + 2 * PADDING - 4


def _lines(node: Node) -> list[str]:
    """Return the notes of a box, long ones on several lines."""
    lines = [
        line
        for note in node.notes
        for line in wrap(clean(note), NOTE_CHARACTERS, max_lines=NOTE_LINES, placeholder=" …")
    ]
    return lines[:MOST_LINES]


def _box(node: Node, place: Place) -> Iterator[str]:
    fill, stroke, sign = _STATES.get(node.state or "", _PLAIN)
    round_ends = 14 if node.kind in (Kind.APPROVAL, Kind.WAIT, Kind.SIGNAL) else 5
    dashes = ' stroke-dasharray="5 3"' if node.state in {"skipped", "waiting"} else ""
    yield '<g class="box">'
    offsets = (8, 4, 0) if node.many or node.count > 1 else (0,)
    for offset in offsets:
        yield (
            f'<rect x="{place.x + offset:.1f}" y="{place.top + offset:.1f}" width="{BOX_WIDTH}" '
            f'height="{place.height:.1f}" rx="{round_ends}" fill="{fill}" stroke="{stroke}"'
            f"{dashes}/>"
        )
    first = place.top + PADDING + 12
    title = f"{GLYPHS[node.kind]} {node.title}"
    yield _text(title, place.x + PADDING, first, "name", TITLE_CHARACTERS)
    if sign:
        yield f'<text x="{place.x + BOX_WIDTH - 22:.1f}" y="{first:.1f}">{sign}</text>'
    for number, line in enumerate(_lines(node), start=1):
        y = first + 2 + NOTE_LINE * number
        yield _text(line, place.x + PADDING, y, "dim", NOTE_CHARACTERS)
    yield "</g>"


def _drawn_line(line: Line) -> str:
    points = line.points
    path = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (x, y), (end_x, end_y) in itertools.pairwise(points):
        bend = (end_x - x) / 2
        path.append(
            f"C{x + bend:.1f},{y:.1f} {end_x - bend:.1f},{end_y:.1f} {end_x:.1f},{end_y:.1f}"
        )
    dashes = ' stroke-dasharray="6 4"' if line.edge.conditional else ""
    return f'<path class="line" marker-end="url(#tip)"{dashes} d="{" ".join(path)}"/>'


def _legend(drawing: Drawing) -> Iterator[str]:
    kinds = [kind for kind in Kind if any(node.kind is kind for node in drawing.nodes)]
    signs = [f"{GLYPHS[kind]} {_KIND_WORDS.get(kind, kind.value)}" for kind in kinds]
    if any(node.many for node in drawing.nodes):
        signs.append("stacked box: one task per item, count not known yet")
    if any(edge.conditional for edge in drawing.edges):
        signs.append("dashed line: may be skipped, or was")
    yield _text("     ".join(signs), 0, 0, "dim", 200)
    x = 0
    for state in (state for state in _STATES if any(node.state == state for node in drawing.nodes)):
        fill, stroke, sign = _STATES[state]
        yield (
            f'<rect x="{x}" y="{LEGEND_LINE - 10}" width="12" height="12" rx="2" fill="{fill}" '
            f'stroke="{stroke}"/>'
        )
        yield _text(f"{sign} {state}", x + 18, LEGEND_LINE, "dim", 40)
        x += 100


def _text(said: str, x: float, y: float, style: str, most: int) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{_safe(said, most)}</text>'


def _safe(said: str, most: int) -> str:
    """Return text that cannot be markup, cut to a length, without what XML does not allow."""
    whole = clean(said)
    cut = whole if len(whole) <= most else f"{whole[: most - 1]}…"
    return escape("".join(character if _allowed(character) else "�" for character in cut))


def _allowed(character: str) -> bool:
    return character.isprintable() and not "\ud800" <= character <= "\udfff"
