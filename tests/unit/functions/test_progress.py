"""Progress is one short line, and nothing at all outside a worker."""

from collections.abc import Iterator

import pytest

from switchyard.functions import progress
from switchyard.functions.progress import progress_line, report_to


@pytest.fixture
def reported() -> Iterator[list[str]]:
    lines: list[str] = []
    report_to(lines.append)
    yield lines
    report_to(None)


def test_a_plain_call_reports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    progress(0.5, "half")

    assert capsys.readouterr().out == ""


def test_a_report_says_how_much_and_what(reported: list[str]) -> None:
    progress(0.4, "page 12\nof 30")

    assert reported == ["40 % page 12 of 30"]


@pytest.mark.parametrize(
    ("fraction", "line"),
    [(0, "0 %"), (1, "100 %"), (2.5, "100 %"), (-1, "0 %"), (float("nan"), "0 %"), (0.999, "99 %")],
)
def test_a_share_is_from_nothing_to_all(fraction: float, line: str) -> None:
    assert progress_line(fraction) == line
