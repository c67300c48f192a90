"""The bar of an upload: on a terminal, and only once it takes longer than a moment."""

from io import StringIO

import pytest
from rich.console import Console

from switchyard.testing import ManualClock
from switchyard_cli.views.upload_bar import upload_bar


@pytest.mark.parametrize(
    ("seconds", "terminal", "shown"), [(1, True, False), (3, True, True), (3, False, False)]
)
def test_a_bar_is_shown_after_two_seconds_on_a_terminal(
    seconds: int, *, terminal: bool, shown: bool
) -> None:
    console, clock = Console(file=StringIO(), force_terminal=terminal, width=100), ManualClock()
    with upload_bar(console, clock, total=20) as count:
        clock.advance(seconds)
        count(5)
        count(5)
    assert isinstance(console.file, StringIO)
    assert ("Sending files" in console.file.getvalue()) is shown
