"""Draws a scenario's figures over time, as an SVG file that needs nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from switchyard_scenarios.reporting.evidence import Evidence, Note

WIDTH: Final = 760
LEFT: Final = 12
RIGHT: Final = 150
"""The width for the names of the lines."""
TALL: Final = 130
SMALL: Final = 34
GAP: Final = 22
OF_THE_QUEUE: Final = ("waiting", "in flight", "completed", "dead letters")
"""The figures that share a scale; every other figure has a band of its own."""
_LABEL_HEIGHT: Final = 12
_NUMBER_WIDTH: Final = 15


@dataclass(frozen=True, slots=True)
class Band:
    labels: tuple[str, ...]
    top: float
    height: float
    most: int
    """The value at its top."""


def timeline(evidence: Evidence) -> str:
    """Draw the figures as SVG; return an empty text if nothing was measured."""
    figures = evidence.figures
    if not figures:
        return ""
    end_ms = max(note.at_ms for note in [*figures, *evidence.notes]) or 1
    bands = list(_bands(figures))
    bottom = bands[-1].top + bands[-1].height
    parts = [
        *(part for band in bands for part in _drawn(band, figures, end_ms)),
        *_happenings(evidence.notes, end_ms, bottom),
        *_axis(end_ms, bottom),
    ]
    size = f'viewBox="0 0 {WIDTH} {bottom + 2 * GAP:g}"'
    return f'<svg role="img" aria-label="timeline" {size}>{"".join(parts)}</svg>'


def _bands(figures: Sequence[Note]) -> Iterator[Band]:
    labels = list(dict.fromkeys(note.label for note in figures))
    top = float(GAP)
    shared = tuple(label for label in labels if label in OF_THE_QUEUE)
    groups = [*([shared] if shared else []), *((la,) for la in labels if la not in OF_THE_QUEUE)]
    for group in groups:
        height = TALL if group is shared else SMALL
        most = max(int(note.value) for note in figures if note.label in group)
        yield Band(group, top, height, max(most, 1))
        top += height + GAP


def _drawn(band: Band, figures: Sequence[Note], end_ms: int) -> Iterator[str]:
    base = band.top + band.height
    yield f'<line class="base" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base:g}" y2="{base:g}"/>'
    taken: list[float] = []
    for label in band.labels:
        own = [note for note in figures if note.label == label]
        color = f"c{OF_THE_QUEUE.index(label)}" if label in OF_THE_QUEUE else "c4"
        yield f'<path class="{color}" d="{_path(own, band, end_ms)}"/>'
        last = int(own[-1].value)
        height = _free(_y(last, band) + 4, taken)
        most = max(int(note.value) for note in own)
        reported = f"{label} {last}" + (f" (at most {most})" if most != last else "")
        left = WIDTH - RIGHT + 6
        yield f'<text class="{color}" x="{left}" y="{height:g}">{escape(reported)}</text>'


def _path(own: Sequence[Note], band: Band, end_ms: int) -> str:
    """Return the path in steps: a figure stays what it was until it changes."""
    first = own[0]
    start = f"M{_x(first.at_ms, end_ms):g} {_y(int(first.value), band):g}"
    steps = [f"H{_x(n.at_ms, end_ms):g}V{_y(int(n.value), band):g}" for n in own[1:]]
    return "".join([start, *steps, f"H{WIDTH - RIGHT}"])


def _happenings(notes: Sequence[Note], end_ms: int, bottom: float) -> Iterator[str]:
    """Draw the notes, numbered as in the list below the chart; no number lies upon another."""
    written = float("-inf")
    for number, note in enumerate(sorted(notes, key=lambda note: note.at_ms), start=1):
        x = _x(note.at_ms, end_ms)
        written = max(x, written + _NUMBER_WIDTH)
        reported = escape(f"{note.label} {note.value}".strip())
        yield (
            f'<g class="mark"><title>{reported}</title>'
            f'<line x1="{x:g}" x2="{x:g}" y1="{GAP / 2:g}" y2="{bottom:g}"/>'
            f'<text x="{written:g}" y="{GAP / 2 - 2:g}">{number}</text></g>'
        )


def _axis(end_ms: int, bottom: float) -> Iterator[str]:
    step = next(s for s in (1, 2, 5, 10, 20, 60, 600, 3600) if end_ms / 1000 / s <= 12)
    for second in range(0, end_ms // 1000 + 1, step):
        x = _x(second * 1000, end_ms)
        yield f'<text class="tick" x="{x:g}" y="{bottom + 14:g}">{second} s</text>'


def _x(at_ms: int, end_ms: int) -> float:
    return round(LEFT + (WIDTH - RIGHT - LEFT) * max(0, at_ms) / end_ms, 1)


def _y(value: int, band: Band) -> float:
    return round(band.top + band.height * (1 - value / band.most), 1)


def _free(wanted: float, taken: list[float]) -> float:
    """A height for a label at which there is none yet."""
    while any(abs(wanted - other) < _LABEL_HEIGHT for other in taken):
        wanted -= _LABEL_HEIGHT
    taken.append(wanted)
    return wanted
