"""The parts of a drawing: boxes and the lines between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of tasks, by what ends them."""

    AGENT = "agent"
    CODE = "code"
    TASK = "task"
    """An agent or code: the definition is not at hand."""
    APPROVAL = "approval"
    WAIT = "wait"
    SIGNAL = "signal"
    JOB = "job"
    """A task with tasks of its own."""
    MORE = "more"
    """Stands for tasks for which there is no room."""


GLYPHS = {
    Kind.AGENT: "●",
    Kind.CODE: "ƒ",
    Kind.TASK: "○",
    Kind.APPROVAL: "◆",
    Kind.WAIT: "◷",
    Kind.SIGNAL: "◎",
    Kind.JOB: "▣",
    Kind.MORE: "⋯",
}


def kind_of_definition(kind: str | None) -> Kind:
    """Return what is drawn for a definition's kind, which may be unknown or a newer one."""
    return Kind(kind) if kind in {Kind.AGENT, Kind.CODE} else Kind.TASK


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A box for one task, or for several that are alike."""

    name: str
    """Identifies the node within its drawing."""
    title: str
    kind: Kind
    notes: tuple[str, ...] = ()
    state: str | None = None
    """The status of the task, if it has one; it is the colour of the box."""
    alike: str = ""
    """A key that nodes share which may be drawn as one box."""
    count: int = 1
    many: bool = False
    """Whether the box stands for tasks whose number is not known yet."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency."""

    source: str
    target: str
    conditional: bool = False
    """Whether the target may be skipped although the source completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    title: str
    facts: tuple[str, ...] = ()
    """Lines below the title."""
    nodes: Sequence[Node]
    edges: Sequence[Edge]


def levels_of(drawing: Drawing) -> dict[str, int]:
    """Return for each node how many others have to end before it, on the longest way."""
    parents: dict[str, list[str]] = {node.name: [] for node in drawing.nodes}
    children: dict[str, list[str]] = {node.name: [] for node in drawing.nodes}
    for edge in drawing.edges:
        parents[edge.target].append(edge.source)
        children[edge.source].append(edge.target)
    waiting = {name: len(found) for name, found in parents.items()}
    level = {name: 0 for name, number in waiting.items() if not number}
    ready = list(level)
    for name in ready:  # it grows while it is read
        for child in children[name]:
            level[child] = max(level.get(child, 0), level[name] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return {node.name: level.get(node.name, 0) for node in drawing.nodes}
