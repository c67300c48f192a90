"""Drawings of plans and jobs: their text, their layout and their SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from switchyard.contracts.jobs import JobView, TaskSummary
from switchyard_cli.files.job_file import JobFile
from switchyard_cli.pictures.collapse import collapsed
from switchyard_cli.pictures.drawing import Drawing, Edge, Kind, Node, levels_of
from switchyard_cli.pictures.job import drawing_of_job
from switchyard_cli.pictures.layout import placed
from switchyard_cli.pictures.plan import drawing_of_plan
from switchyard_cli.pictures.svg import MOST_BOXES, svg_of
from switchyard_cli.pictures.text import MOST_LINES, text_lines

BEGAN = datetime(2027, 1, 31, 12, tzinfo=UTC)
HOSTILE = "</text><script>alert(1)</script>&\x1b[31m\ud800\x00"
SVG = "{http://www.w3.org/2000/svg}"


def a_plan(*tasks: dict[str, Any]) -> Drawing:
    definitions = {
        "draft": {"tag": "t", "description": "d"},
        "lint": {"kind": "code", "command": ["x"]},
    }
    described = {"name": "release", "definitions": definitions, "tasks": tasks}
    return drawing_of_plan(JobFile.model_validate(described))


def a_drawing(edges: Mapping[str, Sequence[str]], alike: str = "d") -> Drawing:
    nodes = [Node(name=name, title=name, kind=Kind.AGENT, alike=alike) for name in edges]
    lines = [Edge(parent, name) for name, parents in edges.items() for parent in parents]
    return Drawing(title="drawn", nodes=nodes, edges=lines)


def words_in(svg: str) -> str:
    texts = ET.fromstring(svg).iter(f"{SVG}text")
    return "\n".join(text.text or "" for text in texts)


RELEASE = a_plan(
    {"taskId": "draft", "name": "draft"},
    {"taskId": "lint", "name": "lint", "dependsOn": ["draft"]},
    {"taskId": "wait", "kind": "wait", "for": "2h", "dependsOn": ["draft"]},
    {"taskId": "gate", "kind": "approval", "question": "Publish?", "dependsOn": ["lint", "wait"]},
    {
        "taskId": "publish",
        "name": "registered",
        "dependsOn": ["gate"],
        "rule": "all_settled",
        "when": "${tasks.gate.output.approved}",
    },
)


def test_the_text_has_a_line_for_each_task_with_what_it_waits_for() -> None:
    assert text_lines(RELEASE) == [
        "● draft",
        "└─ ƒ lint; after draft",
        "└─ ◷ wait; for 2h; after draft",
        "   └─ ◆ gate; Publish?; after lint, wait",
        "      └─ ○ publish; definition registered; rule all_settled; "
        "when ${tasks.gate.output.approved}; after gate",
        "● agent  ƒ code  ○ agent or code  ◆ approval  ◷ wait",
    ]


def test_the_picture_says_the_same_and_marks_what_may_be_skipped() -> None:
    svg = svg_of(RELEASE)

    said = words_in(svg)
    for words in ("● draft", "ƒ lint", "for 2h", "◆ gate", "Publish?", "rule all_settled"):
        assert words in said
    assert svg.count("stroke-dasharray") == 1
    assert "dashed line: may be skipped" in said
    assert svg == svg_of(RELEASE)


def test_a_task_for_each_item_is_a_stack_whose_number_is_not_known() -> None:
    node = Node(
        name="a", title="review", kind=Kind.AGENT, notes=("one per item of files",), many=True
    )
    drawing = Drawing(title="fan-out", nodes=[node], edges=[])

    assert text_lines(drawing)[0] == "▤ ● review; one per item of files"
    assert svg_of(drawing).count("<rect x=") == 3
    assert "count not known yet" in words_in(svg_of(drawing))


def test_hostile_text_stays_text() -> None:
    node = Node(name="a", title=HOSTILE, kind=Kind.AGENT, notes=(HOSTILE * 50,), state=HOSTILE)
    drawing = Drawing(title=HOSTILE, facts=(HOSTILE,), nodes=[node], edges=[])

    svg = svg_of(drawing)

    found = ET.fromstring(svg.encode("utf-8"))
    assert {element.tag.removeprefix(SVG) for element in found.iter()} == {
        *("svg", "title", "style", "defs", "marker", "path", "rect", "g", "text")
    }
    assert len(svg) < 5_000
    assert "\x1b" not in "".join(text_lines(drawing))


def a_job(*tasks: TaskSummary, **facts: Any) -> JobView:
    return JobView(
        job_id="job-1",
        name="shop",
        status="failed",
        total_tasks=len(tasks),
        progress={},
        created_at=BEGAN,
        completed_at=BEGAN + timedelta(minutes=3),
        tasks=tasks,
        **facts,
    )


def test_the_picture_of_a_job_says_what_happened_in_words_as_well_as_colours() -> None:
    ended = BEGAN + timedelta(seconds=75)
    read = TaskSummary(
        task_id="read", name="reader", depends_on=(), status="completed", attempt=2,
        started_at=BEGAN, settled_at=ended, cost_usd=0.25,
    )  # fmt: skip
    reason = "the condition does not hold"
    page = TaskSummary(
        task_id="page", name="page", depends_on=("read",), status="skipped", attempt=0, error=reason
    )

    svg = svg_of(drawing_of_job(a_job(read, page), now_ms=0))

    said = words_in(svg)
    for words in ("shop (job-1)", "failed, 2 tasks", "completed, 1 min 15 s, $0.25", "attempt 2"):
        assert words in said
    assert reason in said
    assert "✔ completed" in said
    assert "⊘ skipped" in said


@pytest.mark.parametrize(
    "edges",
    [
        {"root": [], **{f"a{n}": ["root"] for n in range(2_000)}},
        {f"a{n}": [f"a{n - 1}"] if n else [] for n in range(2_000)},
        {f"a{n}": [f"a{before}" for before in range(max(0, n - 9), n)] for n in range(400)},
        {f"a{n}": [f"a{before}" for before in range(n)] for n in range(100)},
    ],
    ids=["wide", "chain", "woven", "dense"],
)
def test_a_large_job_is_drawn_in_bounded_space(edges: dict[str, list[str]]) -> None:
    drawing = a_drawing(edges)

    assert len(text_lines(drawing)) <= MOST_LINES + 1
    assert len(collapsed(drawing, most=MOST_BOXES).nodes) <= MOST_BOXES
    assert len(svg_of(drawing)) < 500_000
    if len(edges) > MOST_BOXES:
        assert f"{len(edges):,} tasks in " in words_in(svg_of(drawing))


def test_tasks_of_the_same_shape_are_one_box_with_their_number() -> None:
    edges = {"root": [], **{f"a{n}": ["root"] for n in range(500)}}
    edges |= {f"b{n}": [f"a{n}"] for n in range(500)}
    edges |= {"end": [f"b{n}" for n in range(500)]}

    found = collapsed(a_drawing(edges), most=60)

    assert [(node.title, node.count) for node in found.nodes] == [
        ("root", 1),
        ("500 of d", 500),
        ("500 of d", 500),
        ("end", 1),
    ]
    assert len(found.edges) == 3


def test_what_ended_otherwise_than_its_siblings_has_a_box_of_its_own() -> None:
    drawing = a_drawing({f"a{n}": [] for n in range(100)})
    nodes = [
        replace(node, state="failed" if node.name == "a7" else "completed")
        for node in drawing.nodes
    ]

    found = collapsed(Drawing(title="t", nodes=nodes, edges=[]), most=60)

    assert [(node.title, node.state) for node in found.nodes] == [
        ("99 of d", "completed"),
        ("a7", "failed"),
    ]


def test_no_two_boxes_overlap_and_every_line_goes_to_the_right() -> None:
    edges = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["a", "d"], "f": ["b"], "g": []}
    drawing = a_drawing(edges)

    layout = placed(drawing, dict.fromkeys(edges, 60.0))

    for one, other in combinations(layout.boxes.values(), 2):
        assert one.x != other.x or abs(one.y - other.y) >= 60
    assert all(line.points[0][0] < line.points[-1][0] for line in layout.lines)
    assert min(box.top for box in layout.boxes.values()) == 0


def test_lines_cross_no_more_often_than_they_have_to() -> None:
    edges = {"a": [], "b": [], "c": [], "x": ["c"], "y": ["b"], "z": ["a"]}

    boxes = placed(a_drawing(edges), dict.fromkeys(edges, 40.0)).boxes

    for one, other in combinations((("a", "z"), ("b", "y"), ("c", "x")), 2):
        assert (boxes[one[0]].y < boxes[other[0]].y) == (boxes[one[1]].y < boxes[other[1]].y)


def test_a_level_is_the_longest_way_from_the_beginning() -> None:
    assert levels_of(a_drawing({"c": ["a", "b"], "b": ["a"], "a": []})) == {"c": 2, "b": 1, "a": 0}


def test_items_hang_below_their_fan_out() -> None:
    def task(task_id: str, *after: str) -> TaskSummary:
        return TaskSummary(
            task_id=task_id, name="n", depends_on=after, status="completed", attempt=1
        )

    tasks = (task("list"), task("review", "list"), task("review[0]", "list"), task("end", "review"))
    drawing = drawing_of_job(a_job(*tasks), now_ms=0)

    assert [(edge.source, edge.target) for edge in drawing.edges] == [
        ("list", "review"),
        ("review", "review[0]"),
        ("review", "end"),
    ]
