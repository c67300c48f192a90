"""The report: one chart per scenario, whatever its texts say."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from switchyard.testing import ManualClock
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.report import page
from switchyard_scenarios.reporting.results import Result
from switchyard_scenarios.reporting.timeline import timeline
from tests.builders import NOW_MS


@pytest.fixture
def evidence() -> Evidence:
    clock = ManualClock(NOW_MS)
    evidence = Evidence(clock)
    evidence.note("worker-1 starts", "CRASH_RATE=1 <script>")
    for waiting, workers in ((40, 0), (40, 1), (10, 5), (0, 1)):
        evidence.measure("waiting", waiting)
        evidence.measure("workers", workers)
        clock.advance(2)
    evidence.note("the queue is empty")
    evidence.check("nothing is lost & nothing is there twice", held=True, shown="40 of 40")
    return evidence


def a_result(evidence: Evidence, **facts: str) -> Result:
    return Result(
        name="happy-path",
        title="Happy path",
        demonstrates="It goes <well>.",
        evidence=evidence,
        seconds=8.04,
        **facts,
    )


def test_figures_are_drawn_only_where_they_change(evidence: Evidence) -> None:
    reported = [(note.at_ms, note.value) for note in evidence.figures if note.label == "waiting"]
    assert reported == [(0, 40), (4000, 10), (6000, 0)]


def test_a_timeline_is_one_picture_with_a_line_per_figure_and_a_mark_per_happening(
    evidence: Evidence,
) -> None:
    drawn = timeline(evidence)
    picture = ET.fromstring(drawn)
    assert len(picture.findall("path")) == 2
    assert [mark.findtext("title") for mark in picture.findall("g")] == [
        "worker-1 starts CRASH_RATE=1 <script>",
        "the queue is empty",
    ]
    labels = [text.text for text in picture.findall("text")]
    assert "waiting 0 (at most 40)" in labels
    assert "workers 1 (at most 5)" in labels
    assert "8 s" in labels


def test_labels_do_not_lie_upon_each_other() -> None:
    evidence = Evidence(ManualClock(NOW_MS))
    for label in ("waiting", "in flight", "dead letters", "completed"):
        evidence.measure(label, 0)
    picture = ET.fromstring(timeline(evidence))
    labels = [text for text in picture.findall("text") if text.attrib["class"] != "tick"]
    heights = sorted(float(text.attrib["y"]) for text in labels)
    assert len(heights) == 4
    assert all(after - before >= 12 for before, after in pairwise(heights))


def test_a_scenario_that_measured_nothing_has_no_picture() -> None:
    assert timeline(Evidence(ManualClock(NOW_MS))) == ""


def test_the_page_tells_everything_and_nothing_in_it_can_act(evidence: Evidence) -> None:
    written = page([a_result(evidence)], stage="local", now_ms=NOW_MS)
    assert "Queue scenarios: 1 passed, 0 failed" in written
    assert "Stage local, 2027-01-15 08:00 UTC" in written
    assert "It goes &lt;well&gt;." in written
    assert "nothing is lost &amp; nothing is there twice" in written
    assert "<script>" not in written
    assert written.count("<svg") == 1


@pytest.mark.parametrize(
    ("shown", "reported"),
    [
        ({"b": 2, "a": 1}, "b 2, a 1"),
        ([10, 1], "10, 1"),
        ({"b", "a"}, "a, b"),
        ([], "none"),
        (0, "0"),
        ("3 of 3", "3 of 3"),
    ],
)
def test_figures_are_told_in_words(evidence: Evidence, shown: object, reported: str) -> None:
    evidence.check("so it is", held=True, shown=shown)
    assert evidence.checks[-1].shown == reported


def test_a_failed_scenario_says_why(evidence: Evidence) -> None:
    result = a_result(evidence, ended_early="not within 40 s: the queue is empty")
    written = page([result], stage="dev", now_ms=NOW_MS)
    assert "0 passed, 1 failed" in written
    assert "not within 40 s: the queue is empty" in written
